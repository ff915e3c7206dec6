/** Which theme: the system's, or the one chosen here. `public/theme.js` does the first step before anything is painted. */
import { useSyncExternalStore } from "react";
import type { Theme } from "./tokens";

export type Choice = "system" | Theme;

const KEY = "rookery.theme";
const listeners = new Set<() => void>();
const system = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
system?.addEventListener("change", tell);

export function themeChoice(): Choice {
  const kept = read();
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(choice: Choice): void {
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // Storage is refused: the choice holds until the page is left.
  }
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  tell();
}

export function currentTheme(): Theme {
  const chosen = typeof document === "undefined" ? undefined : document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return system?.matches ? "dark" : "light";
}

/** The theme that is shown; the component is drawn again when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

export function useThemeChoice(): Choice {
  return useSyncExternalStore(subscribe, themeChoice);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
