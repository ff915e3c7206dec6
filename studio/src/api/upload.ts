/** Sending something large, with progress: `fetch` does not say how much of a body is on its way. */
import { apiUrl, type Answer, type Asked } from "./client";
import { away, errorOf } from "./errors";
import { parseJson } from "./json";
import { PATHS, type Operations } from "./types";

/** Operations that take a file. */
type Taking = { [N in keyof Operations]: Operations[N]["body"] extends Blob ? N : never }[keyof Operations];

interface Watched {
  /** How many of its bytes are on the other side. */
  onProgress: (sent: number, total: number) => void;
  signal: AbortSignal;
}

/** As `call`, for bodies that take a while. Throws ApiError; an abort is a DOMException named AbortError. */
export function send<N extends Taking>(name: N, asked: Asked<N>, { onProgress, signal }: Watched): Promise<Answer<N>> {
  const [method, template] = PATHS[name];
  const given = asked as { path?: Record<string, unknown>; query?: object; body: Blob };
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stopped = () => reject(new DOMException("It was canceled.", "AbortError"));
    if (signal.aborted) return stopped();
    signal.addEventListener("abort", () => request.abort());
    request.upload.onprogress = (event) => onProgress(event.loaded, event.lengthComputable ? event.total : given.body.size);
    request.onabort = stopped;
    request.onerror = () => reject(away());
    request.onload = () => {
      let parsed: unknown = null;
      try {
        parsed = parseJson(request.responseText);
      } catch {
        // a proxy's page, not ours: errorOf finds words
      }
      if (request.status >= 200 && request.status < 300) resolve(parsed as Answer<N>);
      else reject(errorOf(request.status, parsed));
    };
    request.open(method, apiUrl(template, given.path, given.query));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(given.body);
  });
}
