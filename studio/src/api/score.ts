/** Asking an endpoint, through the keeper: its answer as it came, whatever its status. */
import { apiUrl } from "./client";
import { away } from "./errors";
import { PATHS } from "./types";

export interface Scored {
  status: number;
  /** Decoded where it is JSON. */
  json: unknown;
  text: string;
  timing: string | null;
  version: string | null;
  /** As seen from this browser. */
  tookMs: number;
}

/** POST to an endpoint. Throws ApiError only where nobody answers: what the endpoint refuses is an answer too. */
export async function score(name: string, body: Blob | string, type: string, signal?: AbortSignal): Promise<Scored> {
  const started = performance.now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(apiUrl(PATHS.score_endpoint[1], { name }), { method: "POST", signal, credentials: "same-origin", headers: { "Content-Type": type }, body });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw away();
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return {
    status: response.status,
    json,
    text,
    timing: response.headers.get("server-timing"),
    version: response.headers.get("x-rookery-endpoint-version"),
    tookMs: performance.now() - started,
  };
}
