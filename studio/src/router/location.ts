/** Where we are: the path below `<base>`, and the query. Every view's state that is worth sharing is in it. */
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { baseUrl } from "@/api/client";

const listeners = new Set<() => void>();
let asked: (() => boolean) | null = null; // a page with unsaved work may hold on
if (typeof window !== "undefined") window.addEventListener("popstate", tell);

function basePath(): string {
  return new URL(baseUrl()).pathname.replace(/\/$/, "");
}

/** An address of ours (`/runs/x?tab=logs`) as the browser has it, behind whatever prefix. */
export function href(to: string): string {
  return basePath() + to;
}

export function currentPath(): string {
  return location.pathname.slice(basePath().length) || "/";
}

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (asked && !asked()) return;
  const url = href(to);
  if (url === location.pathname + location.search) return;
  history[options.replace ? "replaceState" : "pushState"](null, "", url);
  tell();
  if (!options.replace) window.scrollTo(0, 0);
}

/** Until it is called with null, leaving this page for another of ours asks `mayLeave` first. */
export function holdPage(mayLeave: (() => boolean) | null): void {
  asked = mayLeave;
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, currentPath);
}

/** The query as it is, and how to change some of it (null or "" takes a key away). Replaces by default: Back leaves the page. */
export function useSearch(): [URLSearchParams, (patch: Record<string, string | null>, options?: { push?: boolean }) => void] {
  const text = useSyncExternalStore(subscribe, () => location.search);
  const search = useMemo(() => new URLSearchParams(text), [text]);
  const change = useCallback((patch: Record<string, string | null>, options: { push?: boolean } = {}) => {
    const next = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(patch)) {
      if (value === null || value === "") next.delete(key);
      else next.set(key, value);
    }
    const query = next.toString();
    navigate(currentPath() + (query ? `?${query}` : ""), { replace: !options.push });
  }, []);
  return [search, change];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
