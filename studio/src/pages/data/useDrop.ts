/** Files dropped anywhere on the page. */
import { useEffect, useRef, useState } from "react";

/** Whether something hovers over the page that could be dropped. `take` is called while the event lasts. */
export function useDrop(isActive: boolean, take: (transfer: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (!isActive) return;
    let inside = 0; // events come for every element on the way
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      inside += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      inside = Math.max(0, inside - 1);
      if (inside === 0) setOver(false);
    };
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault(); // without it the browser opens the file
    };
    const drop = (event: DragEvent) => {
      inside = 0;
      setOver(false);
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      latest.current(event.dataTransfer);
    };
    const all = [["dragenter", enter], ["dragleave", leave], ["dragover", over], ["drop", drop]] as const;
    for (const [name, listener] of all) window.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of all) window.removeEventListener(name, listener);
    };
  }, [isActive]);
  return isActive && isOver;
}
