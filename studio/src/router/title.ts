/** The name of what a page shows, once it is known: for the tab and the breadcrumbs, in place of the id that stands in the address. */
import { useEffect, useSyncExternalStore } from "react";
import { currentPath } from "./location";

let named: { path: string; title: string } | null = null;
const listeners = new Set<() => void>();

/** In a page: `useTitle(run?.display_name)`. Holds for this address only. */
export function useTitle(title: string | null | undefined): void {
  useEffect(() => {
    if (!title) return;
    named = { path: currentPath(), title };
    for (const listener of listeners) listener();
  }, [title]);
}

/** For the frame. */
export function useNamed(path: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (named?.path === path ? named.title : null),
  );
}
