/** Which page an address means. Pure, so that it is tested without a browser. */

export interface Matched<T> {
  route: T;
  params: Record<string, string>;
}

/** The first route whose pattern fits. `/runs/:id` takes one part, `/files/*rest` all that follows; more fixed parts win. */
export function matchRoute<T extends { path: string }>(path: string, routes: readonly T[]): Matched<T> | null {
  let best: (Matched<T> & { worth: number }) | null = null;
  for (const route of routes) {
    const found = matchPattern(route.path, path);
    if (found && (best === null || found.worth > best.worth)) best = { route, ...found };
  }
  return best && { route: best.route, params: best.params };
}

function matchPattern(pattern: string, path: string): { params: Record<string, string>; worth: number } | null {
  const wanted = split(pattern);
  const given = split(path);
  const params: Record<string, string> = {};
  let worth = 0;
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith("*")) {
      params[part.slice(1)] = given.slice(index).map(decode).join("/");
      return { params, worth };
    }
    const found = given[index];
    if (found === undefined) return null;
    if (part.startsWith(":")) {
      params[part.slice(1)] = decode(found);
      worth += 1;
    } else if (part === found) worth += 10;
    else return null;
  }
  return given.length === wanted.length ? { params, worth } : null;
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % that somebody typed
  }
}

/** `/runs/:id` and values → an address. */
export function fillPath(pattern: string, params: Record<string, string>): string {
  return pattern
    .split("/")
    .map((part) => {
      if (part.startsWith(":")) return encodeURIComponent(params[part.slice(1)] ?? "");
      if (part.startsWith("*")) return (params[part.slice(1)] ?? "").split("/").map(encodeURIComponent).join("/");
      return part;
    })
    .join("/");
}
