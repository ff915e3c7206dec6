/**
 * The rows of the table that have been loaded. The first page (`head`) is asked anew whenever something happens; pages after it are
 * loaded once, as they come into sight, and single rows of them are replaced. So a table of 100,000 runs that somebody has scrolled
 * through costs one page per change, not all of them. Pure.
 */
import type { TableRun } from "@/api/types";

export interface Page {
  runs: readonly TableRun[];
  cursor: string | null;
}

export interface Loaded {
  rows: readonly TableRun[];
  /** Where the next page begins; null: all are here. */
  cursor: string | null;
  /** Ids of the first page as it was last answered. */
  head: readonly string[];
  /** How many have come since they were counted. */
  added: number;
}

export function startWith(page: Page): Loaded {
  return { rows: page.runs, cursor: page.cursor, head: page.runs.map((run) => run.id), added: 0 };
}

/** The first page again. New ones come in above; those pushed below it stay; those that fit no more go. */
export function takeHead(loaded: Loaded, page: Page): Loaded {
  const fresh = new Set(page.runs.map((run) => run.id));
  const known = new Set(loaded.rows.map((run) => run.id));
  const news = page.runs.filter((run) => !known.has(run.id)).length;
  const gone = loaded.head.filter((id) => !fresh.has(id));
  const head = page.runs.map((run) => run.id);
  if (loaded.rows.length <= loaded.head.length) {
    // Nothing below: the page is all there is, and what it pushed out comes with the next.
    const left = page.cursor === null ? 0 : Math.max(0, gone.length - news);
    return { rows: page.runs, cursor: page.cursor, head, added: loaded.added + news - left };
  }
  const kept = lastIndex(loaded.head, (id) => fresh.has(id));
  const left = new Set(loaded.head.slice(0, kept + 1).filter((id) => !fresh.has(id))); // pushed-out ones are at the end only
  const below = loaded.rows.filter((run) => !fresh.has(run.id) && !left.has(run.id));
  return { rows: [...page.runs, ...below], cursor: loaded.cursor, head, added: loaded.added + news - left.size };
}

/** The page after the last row. */
export function takeMore(loaded: Loaded, page: Page): Loaded {
  const known = new Set(loaded.rows.map((run) => run.id));
  return { ...loaded, rows: [...loaded.rows, ...page.runs.filter((run) => !known.has(run.id))], cursor: page.cursor };
}

/** Rows as they are now, each at its place. */
export function patchRows(loaded: Loaded, runs: readonly TableRun[]): Loaded {
  const now = new Map(runs.map((run) => [run.id, run]));
  return { ...loaded, rows: loaded.rows.map((run) => now.get(run.id) ?? run) };
}

/** Without these: they have been deleted or archived. */
export function dropRows(loaded: Loaded, ids: ReadonlySet<string>): Loaded {
  const rows = loaded.rows.filter((run) => !ids.has(run.id));
  return { ...loaded, rows, head: loaded.head.filter((id) => !ids.has(id)), added: loaded.added - (loaded.rows.length - rows.length) };
}

/** How many fit, as far as is known. */
export function totalOf(loaded: Loaded, counted: number | null): number | null {
  if (loaded.cursor === null) return loaded.rows.length;
  return counted === null ? null : Math.max(loaded.rows.length, counted + loaded.added);
}

function lastIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  for (let at = items.length - 1; at >= 0; at -= 1) if (holds(items[at] as T)) return at;
  return -1;
}
