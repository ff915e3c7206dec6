/** The hands of `carry.ts`: props for ReactFlow, and what the picture consists of. */
import { useStoreApi, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import { isCarried, TELL_MS, transformOf, type View } from "./carry";

/** That ReactFlow is given one is what leaves telling the store to us; it is where it begins before anything is known. */
const BEGIN: Viewport = { x: 0, y: 0, zoom: 1 };

type Cause = MouseEvent | TouchEvent | null;

/** `follow` is called with every view, also with those that nobody else is told of. */
export function useCarry(numNodes: number, follow: (view: View) => void) {
  const store = useStoreApi();
  const latest = useRef({ numNodes, follow });
  latest.current = { numNodes, follow };
  const moved = useRef<{ cause: Cause; untold: View | null; timer: ReturnType<typeof setTimeout> | null }>({ cause: null, untold: null, timer: null });

  const tell = useCallback(() => {
    const { untold, timer } = moved.current;
    if (timer !== null) clearTimeout(timer);
    moved.current.timer = null;
    moved.current.untold = null;
    if (untold) store.setState({ transform: [...untold] });
  }, [store]);

  const onViewportChange = useCallback(
    ({ x, y, zoom }: Viewport) => {
      const view: View = [x, y, zoom];
      const { domNode, connection, nodesSelectionActive, userSelectionActive } = store.getState();
      latest.current.follow(view);
      moved.current.untold = view;
      const picture = domNode?.querySelector<HTMLElement>(".react-flow__viewport");
      const isBusy = connection.inProgress || nodesSelectionActive || userSelectionActive;
      if (!picture || !isCarried({ numNodes: latest.current.numNodes, event: moved.current.cause, isBusy })) return tell();
      picture.style.transform = transformOf(view);
      moved.current.timer ??= setTimeout(tell, TELL_MS);
    },
    [store, tell],
  );
  const mark = useCallback((isMoving: boolean) => store.getState().domNode?.toggleAttribute("data-moving", isMoving), [store]);
  const onMoveStart = useCallback(
    (cause: Cause) => {
      moved.current.cause = cause;
      mark(true);
    },
    [mark],
  );
  const onMoveEnd = useCallback(() => {
    moved.current.cause = null;
    mark(false);
    tell();
  }, [mark, tell]);

  // Whoever takes hold of something, or types, does it to what is seen.
  useEffect(() => {
    const begin = (event: Event) => {
      if (event.type === "pointerdown") moved.current.cause = null; // what it becomes is told anew
      tell();
    };
    const { current } = moved;
    const kinds = ["pointerdown", "keydown", "drop"] as const;
    for (const kind of kinds) window.addEventListener(kind, begin, { capture: true });
    return () => {
      for (const kind of kinds) window.removeEventListener(kind, begin, { capture: true });
      if (current.timer !== null) clearTimeout(current.timer);
    };
  }, [tell]);
  // What is moved by others than hands, and where it begins.
  useEffect(() => {
    latest.current.follow(store.getState().transform);
    return store.subscribe(({ transform }, before) => {
      if (transform !== before.transform) latest.current.follow(transform);
    });
  }, [store]);
  return { viewport: BEGIN, onViewportChange, onMoveStart, onMoveEnd };
}
