/** The only place that fetches. `call("get_run", { path: { run_id } })` is typed by the keeper's OpenAPI. */
import { ApiError, away, errorOf } from "./errors";
import { parseJson } from "./json";
import { PATHS, type Operations } from "./types";

type Name = keyof Operations;
type IsEmpty<T> = keyof T extends never ? true : false;
type Part<K extends string, T> = IsEmpty<T> extends true ? { [key in K]?: T } : Partial<T> extends T ? { [key in K]?: T } : { [key in K]: T };
type Body<T> = T extends undefined ? { body?: undefined } : { body: T };

export type Answer<N extends Name> = Operations[N]["answer"];
export type Asked<N extends Name> = Part<"path", Operations[N]["path"]> &
  Part<"query", Operations[N]["query"]> &
  Body<Operations[N]["body"]> & { signal?: AbortSignal };

/** Asks the keeper. Throws ApiError. Reading is tried again by TanStack Query (query.ts), writing never by itself. */
export async function call<N extends Name>(name: N, ...[asked]: Partial<Asked<N>> extends Asked<N> ? [Asked<N>?] : [Asked<N>]): Promise<Answer<N>> {
  const [method, template] = PATHS[name];
  const given = (asked ?? {}) as { path?: Record<string, unknown>; query?: object; body?: unknown; signal?: AbortSignal };
  return (await request(method, apiUrl(template, given.path, given.query), given.body, given.signal)) as Answer<N>;
}

/** An operation's address, for links that the browser follows itself (downloads, pictures). */
export function urlOf<N extends Name>(name: N, path?: Operations[N]["path"], query?: Operations[N]["query"]): string {
  return apiUrl(PATHS[name][1], path as Record<string, unknown>, query).toString();
}

/** The address below which this page is: what the keeper has put into `<base>`. Ends with a slash. */
export function baseUrl(): string {
  return typeof document === "undefined" ? "http://localhost/" : document.baseURI;
}

export function apiUrl(template: string, path: Record<string, unknown> = {}, query: object = {}): URL {
  const filled = template.replace(/\{(\w+)\}/g, (_, key: string) => encodePath(String(path[key]), key === "name" || key === "path"));
  const url = new URL(filled.replace(/^\//, ""), baseUrl());
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(key, String(each));
  }
  return url;
}

/** Names of files may hold slashes, which stay; everything else is one part of the path. */
function encodePath(value: string, keepsSlashes: boolean): string {
  return keepsSlashes ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
}

async function request(method: string, url: URL, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const isBlob = typeof Blob !== "undefined" && body instanceof Blob;
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      signal,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": isBlob ? "application/octet-stream" : "application/json" },
      body: body === undefined ? undefined : isBlob ? (body as Blob) : JSON.stringify(body),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw away();
  }
  const kind = response.headers.get("content-type") ?? "";
  if (response.ok && !kind.includes("json")) return response;
  const text = await response.text().catch(() => "");
  let parsed: unknown = null;
  try {
    parsed = text ? parseJson(text) : {};
  } catch {
    if (response.ok) throw new ApiError(response.status, "error", "The keeper's answer cannot be read: it is not JSON.");
  }
  if (response.ok) return parsed;
  throw errorOf(response.status, parsed);
}
