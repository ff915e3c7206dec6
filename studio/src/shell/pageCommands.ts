/** Commands of the page that is open, for the palette: `usePageCommands([{ title: "Cancel this run", run }])`. They go with the page. */
import { useEffect, useRef } from "react";
import type { Command } from "@/registry";

const offered = new Set<{ current: readonly Command[] }>();

export function usePageCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    offered.add(latest);
    return () => {
      offered.delete(latest);
    };
  }, []);
}

/** As they are when the palette is opened. */
export function pageCommands(): Command[] {
  return [...offered].flatMap((each) => each.current);
}
