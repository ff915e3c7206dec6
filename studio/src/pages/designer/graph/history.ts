/** Undo and redo: whole graphs, which share what they have in common, so a hundred steps cost little. Pure. */

export interface History<T> {
  past: readonly T[];
  now: T;
  future: readonly T[];
  /** What the last change was about: changes of the same thing in a row (letters of one word) are one step. */
  about: string | null;
}

export const MOST_STEPS = 200;

export function begin<T>(now: T): History<T> {
  return { past: [], now, future: [], about: null };
}

/** A change. With `about` it joins the one before that had the same. */
export function change<T>(history: History<T>, next: T, about: string | null = null): History<T> {
  if (next === history.now) return history;
  if (about !== null && about === history.about) return { ...history, now: next, future: [] };
  return { past: [...history.past, history.now].slice(-MOST_STEPS), now: next, future: [], about };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future], about: null };
}

export function redo<T>(history: History<T>): History<T> {
  const next = history.future[0];
  if (next === undefined) return history;
  return { past: [...history.past, history.now], now: next, future: history.future.slice(1), about: null };
}
