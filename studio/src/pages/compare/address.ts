/** Which runs are compared, and how they are looked at, as the address says. No React. */

export const MOST_RUNS = 20;

export function compareAddress(ids: readonly string[]): string {
  return `/compare?runs=${ids.slice(0, MOST_RUNS).map(encodeURIComponent).join(",")}`;
}

/** Each once, in the order given. */
export function readIds(search: URLSearchParams): string[] {
  return [...new Set(readList(search, "runs"))].slice(0, MOST_RUNS);
}

/** Names that may hold commas, as one text: commas are written as `%2C`. */
export function writeList(names: Iterable<string>): string {
  return [...names].map((name) => name.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
}

export function readList(search: URLSearchParams, key: string): string[] {
  return (search.get(key) ?? "")
    .split(",")
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("%2C", ",").replaceAll("%25", "%"));
}
