/** Which rows of a long list are in sight. The arithmetic is apart from React, and tested. */
import { useEffect, useLayoutEffect, useState, type RefObject } from "react";

/** Browsers stop at some 17 to 33 million pixels; taller lists are squeezed, and scrolling them covers more rows per pixel. */
export const MOST_PIXELS = 8_000_000;
const AROUND = 8; // rows drawn beyond the edge

export interface Sight {
  first: number; // of the rows to draw
  end: number; // after the last one
  offset: number; // where the first one is, in pixels from the top of the whole
  height: number; // of the whole
}

export function rowsInSight(count: number, rowHeight: number, scrollTop: number, viewHeight: number): Sight {
  const real = count * rowHeight;
  const height = Math.min(real, MOST_PIXELS);
  const farthest = Math.max(1, height - viewHeight);
  const top = height === real ? scrollTop : (Math.min(scrollTop, farthest) / farthest) * (real - viewHeight);
  const at = Math.max(0, Math.floor(top / rowHeight));
  const first = Math.min(Math.max(0, at - AROUND), Math.max(0, count - 1));
  const end = Math.min(count, at + Math.ceil(viewHeight / rowHeight) + AROUND);
  // What is drawn is shifted along with the squeezed scroll position, so that rows in sight stay in sight.
  return { first, end, offset: scrollTop - (top - first * rowHeight), height };
}

/** Where to scroll to for a row to be in sight (in the middle, where there is room); null when it is. */
export function scrollFor(row: number, count: number, rowHeight: number, scrollTop: number, viewHeight: number): number | null {
  const real = count * rowHeight;
  const height = Math.min(real, MOST_PIXELS);
  const squeeze = real > height ? (real - viewHeight) / Math.max(1, height - viewHeight) : 1;
  const top = scrollTop * squeeze;
  if (row * rowHeight >= top && (row + 1) * rowHeight <= top + viewHeight) return null;
  const wanted = Math.max(0, Math.min(real - viewHeight, row * rowHeight - viewHeight / 2 + rowHeight / 2));
  return wanted / squeeze;
}

/**
 * Rows of any height, e.g. broken lines, of which only the usual height is known: scrolling goes from row to row, and beyond the place
 * where the last ones fill the view by their usual height it goes through them, `past` from 0 to 1. The whole is a view taller than usual.
 */
export function wrappedSight(sight: { scrollTop: number; viewHeight: number; height: number }, count: number, rowHeight: number): { first: number; end: number; past: number } {
  const rows = Math.ceil(sight.viewHeight / rowHeight);
  const farthest = Math.max(1, sight.height - sight.viewHeight);
  const last = Math.max(0, count - rows);
  const first = Math.round(Math.min(1, sight.scrollTop / farthest) * last);
  return { first, end: Math.min(count, first + rows), past: Math.min(1, Math.max(0, (sight.scrollTop - farthest) / sight.viewHeight)) };
}

/** Where to scroll to for such a row to be near the top. */
export function wrappedTop(row: number, sight: { viewHeight: number; height: number }, count: number, rowHeight: number): number {
  const rows = Math.ceil(sight.viewHeight / rowHeight);
  const farthest = Math.max(1, sight.height - sight.viewHeight);
  const last = Math.max(1, count - rows);
  const wanted = Math.max(0, row - 2);
  return wanted <= last ? (wanted / last) * farthest : farthest + ((wanted - last) / rows) * sight.viewHeight;
}

/** The rows in sight of a box that scrolls. */
export function useRowsInSight(box: RefObject<HTMLElement | null>, count: number, rowHeight: number): Sight & { scrollTop: number; viewHeight: number } {
  const [seen, setSeen] = useState({ scrollTop: 0, viewHeight: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setSeen((old) => (old.scrollTop === element.scrollTop && old.viewHeight === element.clientHeight ? old : { scrollTop: element.scrollTop, viewHeight: element.clientHeight }));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box]);
  useEffect(() => {
    // A list that got shorter may leave us below its end.
    const element = box.current;
    if (element && element.scrollTop !== seen.scrollTop) setSeen({ scrollTop: element.scrollTop, viewHeight: element.clientHeight });
  }, [box, count, seen.scrollTop]);
  return { ...rowsInSight(count, rowHeight, seen.scrollTop, seen.viewHeight), ...seen };
}
