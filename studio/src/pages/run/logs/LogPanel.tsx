import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { ErrorNotice } from "@/components/ErrorNotice";
import { LineView, type LineViewHandle } from "@/components/LineView";
import { Skeleton } from "@/components/Skeleton";
import { Line } from "./Line";
import { LogBar } from "./LogBar";
import styles from "./Logs.module.css";
import type { Log } from "./names";
import { useFind } from "./useFind";
import { useLog } from "./useLog";

const MARKS_MS = 2000;

interface Props {
  run: string;
  name: string;
  logs: readonly Log[];
  isLive: boolean;
  search: URLSearchParams;
  change: (patch: Record<string, string | null>) => void;
}

/** One log: its bar, its lines. Where one looks (log, line, found text) is in the address; how (wrapped) belongs to the reader. */
export function LogPanel({ run, name, logs, isLive, search, change }: Props) {
  const asked = Number(search.get("line") ?? NaN);
  const selected = Number.isInteger(asked) && asked >= 1 ? asked - 1 : null;
  const [isFollowing, setFollowing] = useState(selected === null);
  const [isWrapped, setWrapped] = useWrapped();
  const view = useRef<LineViewHandle>(null);
  const store = useLog(run, name, isLive, logs.find((log) => log.name === name)?.size ?? 0);
  const { total } = store;
  const marks = useMarks(run, name, store.size, store.isLoaded);
  const go = useCallback(
    (line: number) => {
      setFollowing(false);
      change({ line: String(line + 1) });
      view.current?.scrollTo(line);
    },
    [change],
  );
  const find = useFind(run, name, search.get("find") ?? "", store.size, selected, go);

  // A line that the address names is gone to once it is there.
  const hasArrived = useRef(false);
  useEffect(() => {
    if (hasArrived.current || selected === null || total <= 0) return;
    hasArrived.current = true;
    view.current?.scrollTo(Math.min(selected, total - 1));
  }, [selected, total]);

  const tones = useMemo(() => new Map(marks.map((mark) => [mark.line, mark.kind === "warning" ? ("warning" as const) : ("error" as const)])), [marks]);
  const errors = useMemo(() => marks.filter((mark) => mark.kind !== "warning").map((mark) => mark.line), [marks]);
  const wanted = find.text;
  const render = useCallback((_: number, text: string) => <Line text={text} wanted={wanted} />, [wanted]);
  return (
    <div className={styles.panel} data-testid="run-logs">
      <LogBar
        run={run}
        name={name}
        logs={logs}
        total={total}
        size={store.size}
        find={find}
        errors={errors}
        at={selected}
        onGo={go}
        onLog={(log) => change({ log, line: null })}
        isFollowing={isFollowing}
        onFollow={(next) => {
          setFollowing(next);
          if (next) change({ line: null });
        }}
        isLive={isLive}
        isWrapped={isWrapped}
        onWrap={setWrapped}
      />
      {store.error !== null && <ErrorNotice error={store.error} onRetry={() => void store.refresh()} />}
      {!store.isLoaded && store.error === null && <Skeleton lines={12} height={12} />}
      {store.isLoaded && total === 0 && <p className={styles.empty}>This log is empty{isLive ? " so far" : ""}.</p>}
      {total > 0 && (
        <div className={styles.lines}>
          <LineView
            label={`${name}, ${total} lines`}
            testId="log-lines"
            handle={view}
            count={total}
            line={store.line}
            onNeed={store.need}
            tone={(index) => tones.get(index)}
            render={render}
            isFollowing={isFollowing}
            onFollow={setFollowing}
            isWrapped={isWrapped}
            selected={selected}
            onSelect={go}
          />
        </div>
      )}
    </div>
  );
}

/** Lines that tell of errors. Looked for again when the log has grown, not with every line. */
function useMarks(run: string, name: string, size: number, isLoaded: boolean) {
  const [looked, setLooked] = useState(0);
  useEffect(() => {
    if (!isLoaded || size === looked) return;
    const timer = setTimeout(() => setLooked(size), looked === 0 ? 0 : MARKS_MS);
    return () => clearTimeout(timer);
  }, [size, looked, isLoaded]);
  const asked = useQuery({
    queryKey: keys.log(run, "index", name, looked),
    queryFn: ({ signal }) => call("index_log", { path: { run_id: run, name }, signal }),
    enabled: looked > 0,
    placeholderData: (before) => before,
  });
  return asked.data?.marks ?? NO_MARKS;
}

const NO_MARKS: never[] = [];
const KEY = "rookery.logs.wrap";

function useWrapped(): [boolean, (next: boolean) => void] {
  const [isWrapped, setWrapped] = useState(() => {
    try {
      return localStorage.getItem(KEY) === "yes";
    } catch {
      return false;
    }
  });
  const set = (next: boolean) => {
    setWrapped(next);
    try {
      localStorage.setItem(KEY, next ? "yes" : "no");
    } catch {
      // Storage is refused: it holds until the page is left.
    }
  };
  return [isWrapped, set];
}
