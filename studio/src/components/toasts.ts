/** Short news at the edge of the page: what was done, or what failed. Called from anywhere; shown by Toasts.tsx. */
import { toApiError } from "@/api/errors";

export interface Toast {
  id: number;
  tone: "good" | "bad" | "info";
  text: string;
  /** A thing to do about it, e.g. undo. */
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6000;
let shown: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

export function toast(text: string, tone: Toast["tone"] = "good", action?: Toast["action"]): void {
  const id = next++;
  shown = [...shown.slice(-3), { id, tone, text, action }];
  tell();
  // What went wrong stays until it is read.
  if (tone !== "bad") setTimeout(() => dismiss(id), action ? SHOWN_MS * 3 : SHOWN_MS);
}

/** For `onError` of a mutation. */
export function toastError(error: unknown): void {
  toast(toApiError(error).message, "bad");
}

export function dismiss(id: number): void {
  shown = shown.filter((each) => each.id !== id);
  tell();
}

export function currentToasts(): readonly Toast[] {
  return shown;
}

export function subscribeToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
