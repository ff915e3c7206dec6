/** How wide an element is, as it changes: for pictures that are drawn to size. */
import { useLayoutEffect, useState, type RefObject } from "react";

export function useWidth(box: RefObject<HTMLElement | null>, first = 600): number {
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWidth(Math.max(80, element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
