/** Which folders are open and which file is looked at, as the address says. No React. */

export interface Place {
  file: string | null;
  open: ReadonlySet<string>;
}

/** `?file=outputs/a.png&open=outputs,logs`. What leads to the file is open too. */
export function readPlace(search: URLSearchParams, first: readonly string[] = []): Place {
  const file = search.get("file");
  const told = search.get("open");
  const open = new Set(told === null ? [...first, ...(file ? foldersAbove(file) : [])] : told.split(",").filter((part) => part !== "").map(decode));
  return { file, open };
}

/** What the address becomes when a folder is opened or closed. `-` says that none is open, where some would be by themselves. */
export function writeOpen(open: ReadonlySet<string>): string {
  return [...open].map((path) => path.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",") || "-";
}

/** All folders above a path: `a/b/c.txt` → `a`, `a/b`. */
export function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Opened or closed; what is below a closed one is forgotten. */
export function toggled(open: ReadonlySet<string>, path: string): Set<string> {
  if (!open.has(path)) return new Set([...open, path]);
  return new Set([...open].filter((each) => each !== path && !each.startsWith(`${path}/`)));
}

function decode(part: string): string {
  return part === "-" ? "" : part.replaceAll("%2C", ",").replaceAll("%25", "%");
}
