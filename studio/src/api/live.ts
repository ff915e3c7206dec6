/** Everything live: one stream of the whole workspace per browser, shared by its tabs, and what each event makes the page ask anew. */
import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { apiUrl } from "./client";
import { makeGather } from "./gather";
import { EventStream, type Connection, type Kind, type StreamEvent } from "./stream";
import { PATHS } from "./types";

const KINDS: readonly Kind[] = ["draft", "dataset", "status", "metric", "run", "warning", "artifact", "compute", "environment", "model", "endpoint", "trial"];
export const POLL_MS = 5000;
const HIDDEN_MS = 30_000;

let state: Connection = "connecting";
let told = firstSeq(); // the last event that this tab knows of, whoever holds the stream
const stateListeners = new Set<() => void>();
const eventListeners = new Set<(event: StreamEvent) => void>();

/** How the connection is; `away` means that pages poll. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    () => state,
  );
}

/** Calls `take` for every event of the workspace (logs are not among them: a run's page follows its own). */
export function useEvents(take: (event: StreamEvent) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const listener = (event: StreamEvent) => latest.current(event);
    eventListeners.add(listener);
    return () => {
      eventListeners.delete(listener);
    };
  }, []);
}

/** The first part of the keys that an event makes stale (query.ts says how keys are made). */
export function touchedKeys(event: StreamEvent): unknown[][] {
  const run = event.data.run;
  const ofRun = run ? [["run", run]] : [];
  switch (event.kind) {
    case "status":
      return [["runs"], ["home"], ["compute"], ["experiments"], ...ofRun];
    case "run":
      return [["runs"], ["names"], ...ofRun];
    case "metric":
      return [["runs"], ...ofRun];
    case "compute":
      return [["compute"], ["home"]];
    case "endpoint":
      return [["endpoints"]];
    case "environment":
      return [["environments"]];
    case "dataset":
      return [["data"]];
    case "draft":
      return [["drafts"]];
    case "model":
      return [["models"], ...ofRun];
    default:
      return ofRun;
  }
}

/** Starts it for the life of the page. Returns how to end it. */
export function startLive(client: QueryClient): () => void {
  const gather = makeGather({ isFetching: (queryKey) => client.isFetching({ queryKey }), invalidate: (queryKey) => void client.invalidateQueries({ queryKey }) });
  const take = (event: StreamEvent) => {
    if (Number.isFinite(event.seq)) told = Math.max(told ?? 0, event.seq);
    for (const listener of eventListeners) listener(event);
    gather.add(touchedKeys(event));
  };
  const become = (next: Connection) => {
    if (next === state) return;
    const wasAway = state === "away";
    state = next;
    for (const listener of stateListeners) listener();
    // What a poll has not seen yet, and what was told while nobody listened.
    if (next === "live" && wasAway) void client.invalidateQueries();
  };
  const polling = setInterval(() => {
    if (state === "away" && !document.hidden) void client.invalidateQueries({ type: "active" });
  }, POLL_MS);
  const stop = navigator.locks && "BroadcastChannel" in window ? shareStream(take, become) : ownStream(take, become);
  return () => {
    clearInterval(polling);
    gather.stop();
    stop();
  };
}

function makeStream(take: (event: StreamEvent) => void, become: (state: Connection) => void): EventStream {
  const url = (after: number | null) => apiUrl(PATHS.follow_all[1], {}, { after, kinds: KINDS.join(",") }).toString();
  // From where the page was made, or from what another tab has told: nothing that happens while it is being opened is missed.
  const stream = new EventStream({ url, kinds: KINDS, onEvent: take, onState: become, after: told });
  window.addEventListener("online", () => stream.retryNow());
  document.addEventListener("visibilitychange", () => !document.hidden && stream.retryNow());
  return stream;
}

/** The last event when the keeper made this page (server/studio.py writes it there); null where it did not. */
function firstSeq(): number | null {
  const given = typeof document === "undefined" ? null : document.querySelector('meta[name="rookery-after"]')?.getAttribute("content");
  return given && /^\d+$/.test(given) ? Number(given) : null;
}

/** One tab holds the stream and tells the others: browsers allow six connections to a server, and an open stream keeps a keeper up. */
function shareStream(take: (event: StreamEvent) => void, become: (state: Connection) => void): () => void {
  const name = `rookery:${new URL("api", document.baseURI).pathname}`;
  const channel = new BroadcastChannel(name);
  const ending = new AbortController();
  let leads = false;
  channel.onmessage = (message: MessageEvent<{ event?: StreamEvent; state?: Connection; ask?: true }>) => {
    if (message.data.ask && leads) channel.postMessage({ state });
    if (message.data.event && !leads) take(message.data.event);
    if (message.data.state && !leads) become(message.data.state);
  };
  channel.postMessage({ ask: true });
  void navigator.locks
    .request(name, { signal: ending.signal }, async () => {
      leads = true;
      const stream = makeStream(
        (event) => {
          channel.postMessage({ event });
          take(event);
        },
        (next) => {
          channel.postMessage({ state: next });
          become(next);
        },
      );
      stream.start();
      await new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve()));
      stream.stop();
    })
    .catch(() => undefined); // given up before it was our turn
  return () => {
    ending.abort();
    channel.close();
  };
}

/** Where tabs cannot agree (no locks without https, other than on one's own machine): each its own, and none for long in the background. */
function ownStream(take: (event: StreamEvent) => void, become: (state: Connection) => void): () => void {
  const stream = makeStream(take, become);
  let hiding: ReturnType<typeof setTimeout> | null = null;
  const look = () => {
    if (hiding !== null) clearTimeout(hiding);
    hiding = null;
    if (document.hidden) hiding = setTimeout(() => stream.stop(), HIDDEN_MS);
    else stream.start();
  };
  document.addEventListener("visibilitychange", look);
  stream.start();
  return () => {
    document.removeEventListener("visibilitychange", look);
    stream.stop();
  };
}
