/** Keys that work everywhere: Ctrl-K, "/" to search, and two letters like "g r" that pages and commands have asked for. */
import { useEffect, useRef } from "react";
import { pages, registered } from "@/registry";
import { navigate } from "@/router/location";

const PAUSE_MS = 1200; // between the two letters

export function bindings(): Map<string, () => void> {
  const found = new Map<string, () => void>();
  for (const page of pages) if (page.nav?.keys) found.set(page.nav.keys, () => navigate(page.path));
  for (const each of registered) for (const command of each.commands ?? []) if (command.keys) found.set(command.keys, command.run);
  return found;
}

export function useShortcuts(openPalette: () => void): void {
  const open = useRef(openPalette);
  open.current = openPalette;
  useEffect(() => {
    const bound = bindings();
    let before = "";
    let at = 0;
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        open.current();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (event.key === "/" && !document.querySelector("dialog[open]")) {
        event.preventDefault();
        open.current();
        return;
      }
      const pair = Date.now() - at < PAUSE_MS ? `${before} ${event.key}` : event.key;
      const run = document.querySelector("dialog[open]") ? undefined : bound.get(pair);
      before = event.key;
      at = Date.now();
      if (run) {
        event.preventDefault();
        at = 0;
        run();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
