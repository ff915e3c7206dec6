/** The hands of `carry.ts`: props for ReactFlow. */
import { useStoreApi, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { isCarried, TELL_MS, transformOf, type View } from "./carry";
import { placeDots } from "./Dots";
import { Slide } from "./slide";

/** That ReactFlow is given one is what leaves telling the store to us; it is where it begins before anything is known. */
const BEGIN: Viewport = { x: 0, y: 0, zoom: 1 };
/** What begins with one of these is done to what is seen. */
const BEGINS = ["pointerdown", "keydown", "drop"] as const;

interface Hand {
  /** What moves the canvas now; null: nothing, or the page itself. */
  cause: MouseEvent | TouchEvent | null;
  /** What is shown, where the store has not been told yet. */
  untold: View | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** `dots` go with the canvas; `follow` is called with every view, also with those that the store is not told of at once. */
export function useCarry(numNodes: number, dots: RefObject<HTMLElement | null>, follow: (view: View) => void) {
  const store = useStoreApi();
  const size = useRef(numNodes);
  size.current = numNodes;
  const [hand] = useState<Hand>(() => ({ cause: null, untold: null, timer: undefined }));
  const [slides] = useState(() => ({ canvas: new Slide(), dots: new Slide() }));

  const tell = useCallback(() => {
    clearTimeout(hand.timer);
    const view = hand.untold;
    hand.timer = undefined;
    hand.untold = null;
    if (view) store.setState({ transform: [...view] });
  }, [store, hand]);
  const endSlides = useCallback(() => {
    slides.canvas.end();
    slides.dots.end();
  }, [slides]);

  const onViewportChange = useCallback(
    ({ x, y, zoom }: Viewport) => {
      const view: View = [x, y, zoom];
      const { domNode, connection, nodesSelectionActive, userSelectionActive } = store.getState();
      const isBusy = connection.inProgress || nodesSelectionActive || userSelectionActive;
      const picture = domNode?.querySelector<HTMLElement>(".react-flow__viewport");
      hand.untold = view;
      if (picture && isCarried({ numNodes: size.current, event: hand.cause, isBusy })) {
        follow(view);
        slides.canvas.to(picture, transformOf(view));
        placeDots(dots.current, view, slides.dots);
        hand.timer ??= setTimeout(tell, TELL_MS);
      } else {
        tell();
        endSlides();
      }
    },
    [store, hand, slides, dots, follow, tell, endSlides],
  );
  const begin = useCallback(
    (cause: Hand["cause"]) => {
      hand.cause = cause;
      store.getState().domNode?.toggleAttribute("data-moving", true);
    },
    [store, hand],
  );
  const end = useCallback(() => {
    hand.cause = null;
    tell();
    endSlides();
    store.getState().domNode?.toggleAttribute("data-moving", false);
  }, [store, hand, tell, endSlides]);

  useEffect(() => {
    const take = (event: Event) => {
      if (event.type === "pointerdown") hand.cause = null; // if it moves the canvas we are told so next
      tell();
    };
    for (const kind of BEGINS) window.addEventListener(kind, take, { capture: true });
    return () => {
      for (const kind of BEGINS) window.removeEventListener(kind, take, { capture: true });
      clearTimeout(hand.timer);
      endSlides();
    };
  }, [hand, tell, endSlides]);
  useEffect(() => {
    const show = (view: View) => {
      follow(view);
      placeDots(dots.current, view, null);
    };
    show(store.getState().transform);
    return store.subscribe(({ transform }, before) => transform !== before.transform && show(transform));
  }, [store, dots, follow]);
  return { viewport: BEGIN, onViewportChange, onMoveStart: begin, onMoveEnd: end };
}
