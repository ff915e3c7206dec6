import { useSyncExternalStore } from "react";
import { formatAgo, formatDuration, formatTime, toDate } from "./format";

// One clock for all: a page with a thousand times on it has one timer.
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

/** The time now, to the second. Drawn again every second: only where something counts. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** "3 m ago", with the exact time where the pointer rests. */
export function Ago({ time }: { time: string | number | null | undefined }) {
  const moment = useNow();
  if (time === null || time === undefined) return <>–</>;
  return (
    <time dateTime={toDate(time).toISOString()} title={formatTime(time)}>
      {formatAgo(time, new Date(Math.max(moment, Date.now())))}
    </time>
  );
}

/** How long from `start` to `end`; counts while there is no end. */
export function Elapsed({ start, end }: { start: string | null | undefined; end: string | null | undefined }) {
  if (!start) return <>–</>;
  return end ? <>{formatDuration((toDate(end).getTime() - toDate(start).getTime()) / 1000)}</> : <Counting start={start} />;
}

function Counting({ start }: { start: string }) {
  const moment = useNow();
  return <>{formatDuration((Math.max(moment, Date.now()) - toDate(start).getTime()) / 1000)}</>;
}
