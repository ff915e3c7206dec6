/** What of the canvas can be seen, and how far it has to be moved so that something can. Pure. */
import type { Place } from "../graph/model";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const MARGIN = 24;

/** The canvas without what lies over it: at its right on a small screen, at its foot on a phone. */
export function roomOf({ left, top, right, bottom }: Box, over: Box | null): Box {
  const canvas = { left, top, right, bottom }; // what the browser measures does not spread
  if (!over || over.left >= canvas.right || over.right <= canvas.left || over.top >= canvas.bottom || over.bottom <= canvas.top) return canvas;
  const isAcross = over.left <= canvas.left + MARGIN;
  return isAcross ? { ...canvas, bottom: Math.max(canvas.top, over.top) } : { ...canvas, right: over.left };
}

/** As little as it takes; into the middle where nothing of it is to be seen. */
export function panBy(box: Box, room: Box): Place {
  const isAway = box.right < room.left || box.left > room.right || box.bottom < room.top || box.top > room.bottom;
  const pan = isAway ? toMiddle : shift;
  return { x: pan(box.left, box.right, room.left, room.right), y: pan(box.top, box.bottom, room.top, room.bottom) };
}

function toMiddle(start: number, end: number, low: number, high: number): number {
  return (low + high - start - end) / 2;
}

/** What is too large for the room begins at its edge. */
function shift(start: number, end: number, low: number, high: number): number {
  if (start < low + MARGIN || end - start > high - low - 2 * MARGIN) return low + MARGIN - start;
  return end > high - MARGIN ? high - MARGIN - end : 0;
}
