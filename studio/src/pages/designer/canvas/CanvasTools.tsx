import { Panel, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { IconButton } from "@/components/Button";
import styles from "./Canvas.module.css";
import { fitted, motionMs } from "./motion";
import { panBy, roomOf } from "./sight";

/** Nearer, farther, all of it. */
export function CanvasTools() {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-left" className={styles.legend}>
      <IconButton icon="minus" label="Zoom out" onClick={() => void flow.zoomOut({ duration: motionMs() })} />
      <IconButton icon="plus" label="Zoom in" onClick={() => void flow.zoomIn({ duration: motionMs() })} />
      <IconButton icon="fit" label="Show all of it" onClick={() => void flow.fitView(fitted())} data-testid="designer-fit" />
    </Panel>
  );
}

/** What is chosen stays in sight: a pane makes the canvas narrower, or lies over it. Moved by as little as it takes, never zoomed; again whenever `jump` is another. */
export function KeepInSight({ id, jump }: { id: string | null; jump: number }) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isThere = useStore((state) => id !== null && Boolean(state.nodeLookup.get(id)?.measured.width));
  useEffect(() => {
    if (id === null || !isThere) return;
    // Once it is all drawn, and fitted where the page was just opened.
    const frame = requestAnimationFrame(() => {
      const canvas = store.getState().domNode?.getBoundingClientRect();
      const node = flow.getInternalNode(id);
      if (!node || !canvas?.width) return;
      const over = document.querySelector('[data-testid="designer-pane"]')?.getBoundingClientRect() ?? null;
      const { x, y, zoom } = flow.getViewport();
      const left = canvas.left + node.internals.positionAbsolute.x * zoom + x;
      const top = canvas.top + node.internals.positionAbsolute.y * zoom + y;
      const box = { left, top, right: left + (node.measured.width ?? 0) * zoom, bottom: top + (node.measured.height ?? 0) * zoom };
      const by = panBy(box, roomOf(canvas, over));
      if (by.x || by.y) void flow.setViewport({ x: x + by.x, y: y + by.y, zoom }, { duration: motionMs() });
    });
    return () => cancelAnimationFrame(frame);
  }, [id, jump, width, height, isThere, flow, store]);
  return null;
}
