/** A JSON value as rows of a tree: what is open, what is said of what is closed, and where a thing stands. No React. */

export interface JsonRow {
  /** From the root: `["a", 0, "b"]` as one text, which is unique. */
  path: string;
  depth: number;
  /** The key or the place in a list; null for the root and for rows that say how many are left out. */
  name: string | null;
  value: unknown;
  isBranch: boolean;
  isOpen: boolean;
  /** In place of a value: "3 keys", "200 items"; or "… 900 more". */
  said: string | null;
}

const MOST_SHOWN = 200; // of one list or object; the text view has all
const OPEN_DEPTH = 2;
const OPEN_SIZE = 20;

export function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** Small ones near the root are open from the start; `toggled` are those that the reader has changed. */
export function jsonRows(root: unknown, toggled: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (value: unknown, name: string | null, path: string, depth: number) => {
    const branch = isBranch(value);
    const entries = branch ? Object.entries(value) : [];
    const isOpen = branch && (depth < OPEN_DEPTH && (depth === 0 || entries.length <= OPEN_SIZE)) !== toggled.has(path);
    rows.push({ path, depth, name, value, isBranch: branch, isOpen, said: branch ? sizeOf(value) : null });
    if (!isOpen) return;
    for (const [key, inside] of entries.slice(0, MOST_SHOWN)) visit(inside, key, `${path}/${key.replaceAll("/", "~1")}`, depth + 1);
    if (entries.length > MOST_SHOWN) rows.push({ path: `${path}/…`, depth: depth + 1, name: null, value: null, isBranch: false, isOpen: false, said: `… ${(entries.length - MOST_SHOWN).toLocaleString("en-US")} more` });
  };
  visit(root, null, "", 0);
  return rows;
}

function sizeOf(value: object): string {
  const count = Object.keys(value).length;
  const word = Array.isArray(value) ? "item" : "key";
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}
