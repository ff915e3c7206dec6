import { Panel, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { IconButton } from "@/components/Button";
import styles from "./Canvas.module.css";
import { fitted, motionMs } from "./motion";


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

/** A pane beside the canvas makes it narrower: what was chosen is moved back into sight, by as little as it takes. */
export function KeepInSight({ id }: { id: string | null }) {
  const flow = useReactFlow();
  const store = useStoreApi();
  const room = useStore((state) => state.width);
  useEffect(() => {
    if (id === null) return;
    // Once whatever moved the canvas has come to rest; again when the canvas has another width.
    const timer = setTimeout(() => {
      const node = flow.getInternalNode(id);
      const { width, height } = store.getState();
      const { x, y, zoom } = flow.getViewport();
      if (!node || !width) return;
      const left = node.internals.positionAbsolute.x * zoom + x;
      const top = node.internals.positionAbsolute.y * zoom + y;
      const dx = shift(left, (node.measured.width ?? 0) * zoom, width);
      const dy = shift(top, (node.measured.height ?? 0) * zoom, height);
      if (dx || dy) void flow.setViewport({ x: x + dx, y: y + dy, zoom }, { duration: motionMs() });
    }, 120);
    return () => clearTimeout(timer);
  }, [id, room, flow, store]);
  return null;
}

/** How far something from `start` on, so long, has to go to be within the room. */
function shift(start: number, size: number, room: number): number {
  const margin = 24;
  if (start < margin) return margin - start;
  return start + size > room - margin ? room - margin - start - size : 0;
}
