/** One log, kept in step with the run: told of new lines by the run's own stream, which is there only while somebody looks. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { call, urlOf } from "@/api/client";
import { toApiError } from "@/api/errors";
import { EventStream } from "@/api/stream";
import { LogStore } from "./store";

const GATHER_MS = 250;
const HIDDEN_MS = 10_000;
const POLL_MS = 3000;

/** `expected` is how long the run's page says it is: what is here may not be shorter for long. */
export function useLog(run: string, name: string, isLive: boolean, expected: number): LogStore {
  const store = useMemo(() => new LogStore((start, limit) => call("read_log_lines", { path: { run_id: run, name }, query: { start, limit } })), [run, name]);
  useSyncExternalStore(store.subscribe, () => store.version);
  useEffect(() => {
    void store.refresh(); // also when it has just ended: the last lines come with the end
    if (!isLive) return;
    return follow(run, name, () => void store.refresh());
  }, [store, run, name, isLive]);
  const { error, version } = store;
  const isBehind = store.isLoaded && store.size < expected;
  useEffect(() => {
    // Nobody tells when the keeper is back, for a log that does not grow any more.
    if ((error === null && !isBehind) || (error !== null && toApiError(error).isNotFound)) return;
    const timer = setTimeout(() => void store.refresh(), POLL_MS);
    return () => clearTimeout(timer);
  }, [store, error, isBehind, version]);
  return store;
}

/** Calls `grown` when there is more of that log. Browsers allow few streams, so a hidden page lets go of its own. */
function follow(run: string, name: string, grown: () => void): () => void {
  let gathering: ReturnType<typeof setTimeout> | null = null;
  let hiding: ReturnType<typeof setTimeout> | null = null;
  let isAway = false;
  const soon = () => {
    gathering ??= setTimeout(() => {
      gathering = null;
      grown();
    }, GATHER_MS);
  };
  const stream = new EventStream({
    url: (after) => urlOf("follow_run", { run_id: run }, { after: after ?? -1, kinds: "log,status" }),
    kinds: ["log", "status"],
    onEvent: (event) => {
      if (event.kind === "status" || event.data.name === name) soon();
    },
    onState: (state) => {
      isAway = state === "away";
      if (state === "live") soon(); // what came before we listened
    },
  });
  const polling = setInterval(() => isAway && !document.hidden && grown(), POLL_MS);
  const look = () => {
    if (hiding !== null) clearTimeout(hiding);
    hiding = null;
    if (document.hidden) hiding = setTimeout(() => stream.stop(), HIDDEN_MS);
    else stream.start();
  };
  stream.start();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    clearInterval(polling);
    if (gathering !== null) clearTimeout(gathering);
    if (hiding !== null) clearTimeout(hiding);
    stream.stop();
  };
}
