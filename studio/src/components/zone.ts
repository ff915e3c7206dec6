/** The zone that times are shown in: the reader's, or the one chosen here. */
import { useSyncExternalStore } from "react";

const KEY = "rookery.zone";
const listeners = new Set<() => void>();
let chosen = read();

/** Undefined: the reader's own. */
export function chosenZone(): string | undefined {
  return chosen;
}

/** Empty or unknown: the reader's own again. */
export function chooseZone(zone: string): void {
  chosen = isZone(zone) ? zone : undefined;
  try {
    if (chosen) localStorage.setItem(KEY, chosen);
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is refused: the choice holds until the page is left.
  }
  for (const listener of listeners) listener();
}

export function useZone(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => chosen,
  );
}

export function isZone(zone: string): boolean {
  if (!zone) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** All that the browser knows. */
export function knownZones(): string[] {
  const all = typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [];
  return all.includes("UTC") ? all : ["UTC", ...all];
}

function read(): string | undefined {
  try {
    const kept = localStorage.getItem(KEY) ?? "";
    return isZone(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}
