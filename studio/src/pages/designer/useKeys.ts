/** The designer's keys, and the clipboard: copying works across drafts and windows. */
import { useEffect, useRef } from "react";

export interface Keys {
  undo: () => void;
  redo: () => void;
  remove: () => void;
  selectAll: () => void;
  duplicate: () => void;
  layout: () => void;
  fit: () => void;
  note: () => void;
  find: () => void;
  help: () => void;
  clear: () => void;
  /** What is chosen, as text; null: nothing is. */
  copied: () => string | null;
  /** False: it is not ours. */
  paste: (text: string) => boolean;
}

/** For those who ask "which keys?". */
export const KEYS: readonly [keys: string, words: string][] = [
  ["Ctrl Z · Ctrl Shift Z", "undo, redo"],
  ["Ctrl C · Ctrl X · Ctrl V", "copy, cut, paste, also into another draft"],
  ["Ctrl D", "duplicate"],
  ["Delete", "remove what is chosen"],
  ["Ctrl A", "choose all"],
  ["Shift drag", "choose with a frame"],
  ["Tab, arrow keys", "go from module to module, move the chosen one"],
  ["Enter", "choose the module that has the focus"],
  ["Ctrl F", "find a module on the canvas"],
  ["L · F · N", "lay out, fit to the window, new note"],
  ["?", "this list"],
];

const STORED = "rookery.designer.clipboard";

export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isElsewhere(event.target)) return;
      const act = actOf(event, latest.current);
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    const copy = (event: ClipboardEvent) => {
      if (isElsewhere(event.target) || hasText()) return;
      const text = latest.current.copied();
      if (text === null) return;
      event.preventDefault();
      event.clipboardData?.setData("text/plain", text);
      store(text);
      if (event.type === "cut") latest.current.remove();
    };
    const paste = (event: ClipboardEvent) => {
      if (isElsewhere(event.target)) return;
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (latest.current.paste(text)) event.preventDefault();
    };
    document.addEventListener("keydown", press, true);
    document.addEventListener("copy", copy);
    document.addEventListener("cut", copy);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("keydown", press, true);
      document.removeEventListener("copy", copy);
      document.removeEventListener("cut", copy);
      document.removeEventListener("paste", paste);
    };
  }, []);
}

function actOf(event: KeyboardEvent, keys: Keys): (() => void) | null {
  const key = event.key.toLowerCase();
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return event.shiftKey ? keys.redo : keys.undo;
    return { y: keys.redo, a: keys.selectAll, d: keys.duplicate, f: keys.find }[key] ?? null;
  }
  if (event.key === "Delete" || event.key === "Backspace") return keys.remove;
  if (event.key === "?") return keys.help;
  if (event.shiftKey) return null;
  return { l: keys.layout, f: keys.fit, n: keys.note, escape: keys.clear }[key] ?? null;
}

/** Somebody writes, or a dialog is open. */
function isElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]")) return true;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function hasText(): boolean {
  return Boolean(window.getSelection()?.toString());
}

/** The last copy, for the menu's "Paste": the browser gives a page its clipboard only at the key. */
export function store(text: string): void {
  try {
    localStorage.setItem(STORED, text);
  } catch {
    // Storage is refused: the clipboard itself still has it.
  }
}

export function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
