/** The table's rows, live: the first page is asked anew at every event, rows below it one by one, and more as they come into sight. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { call } from "@/api/client";
import { useEvents } from "@/api/live";
import { keys } from "@/api/query";
import { toastError } from "@/components/toasts";
import type { Question } from "./question";
import { dropRows, patchRows, startWith, takeHead, takeMore, totalOf, type Loaded } from "./rows";

const MORE = 500; // rows of a page after the first
const GATHER_MS = 1000;
const MOST_PATCHED = 200;

export interface RunTable {
  rows: Loaded["rows"];
  /** How many fit; null while it is not known. */
  total: number | null;
  hasMore: boolean;
  /** These rows are of the question before; the new answer is on its way. */
  isOld: boolean;
  isPending: boolean;
  isLoadingMore: boolean;
  error: unknown;
  retry: () => void;
  more: () => void;
  drop: (ids: ReadonlySet<string>) => void;
}

export function useRunTable(question: Question, filter: Question): RunTable {
  const key = JSON.stringify(question);
  const head = useQuery({ queryKey: keys.runs(question), queryFn: ({ signal }) => call("search_runs", { body: question, signal }) });
  const [state, setState] = useState<{ key: string; loaded: Loaded } | null>(null);
  const { data } = head;
  useEffect(() => {
    if (data) setState((before) => ({ key, loaded: before?.key === key ? takeHead(before.loaded, data) : startWith(data) }));
  }, [data, key]);
  const change = useCallback((next: (loaded: Loaded) => Loaded) => setState((now) => now && { ...now, loaded: next(now.loaded) }), []);

  const isOld = state !== null && state.key !== key;
  const { isLoadingMore, more } = useMore(question, isOld ? null : (state?.loaded.cursor ?? null), key, setState);
  usePatches(question, state?.loaded ?? null, change);
  const counted = useQuery({
    queryKey: ["run-count", filter],
    queryFn: ({ signal }) => call("search_runs", { body: { ...filter, limit: 1, count: true, columns: { metrics: [], params: [], tags: [] } }, signal }),
    enabled: data !== undefined && data.cursor !== null,
    staleTime: Infinity, // what comes and goes is counted along
    refetchOnWindowFocus: false,
  });
  return {
    rows: state?.loaded.rows ?? [],
    total: state && totalOf(state.loaded, counted.data?.total ?? null),
    hasMore: Boolean(state?.loaded.cursor),
    isOld,
    isPending: state === null,
    isLoadingMore,
    error: head.error,
    retry: () => void head.refetch(),
    more,
    drop: useCallback((ids) => change((loaded) => dropRows(loaded, ids)), [change]),
  };
}

type SetState = (next: (now: { key: string; loaded: Loaded } | null) => { key: string; loaded: Loaded } | null) => void;

/** Loads the next page, one at a time; what comes for another question is thrown away. */
function useMore(question: Question, cursor: string | null, key: string, setState: SetState) {
  const [isLoadingMore, setLoading] = useState(false);
  const asking = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      asking.current?.abort();
      asking.current = null;
      setLoading(false);
    },
    [key],
  );
  const more = useCallback(() => {
    if (cursor === null || asking.current) return;
    const own = new AbortController();
    asking.current = own;
    setLoading(true);
    call("search_runs", { body: { ...question, limit: MORE, cursor }, signal: own.signal })
      .then((page) => setState((now) => (now?.key === key && now.loaded.cursor === cursor ? { ...now, loaded: takeMore(now.loaded, page) } : now)))
      .catch((error: unknown) => !own.signal.aborted && toastError(error))
      .finally(() => {
        if (asking.current !== own) return;
        asking.current = null;
        setLoading(false);
      });
  }, [question, cursor, key, setState]);
  return { isLoadingMore, more };
}

/** Rows below the first page, as events name them: asked for together, at most once a second. */
function usePatches(question: Question, loaded: Loaded | null, change: (next: (loaded: Loaded) => Loaded) => void): void {
  const wanted = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const now = useRef({ question, below: new Set<string>() });
  useEffect(() => {
    now.current = { question, below: new Set(loaded?.rows.slice(loaded.head.length).map((run) => run.id)) };
  }, [question, loaded]);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  useEvents((event) => {
    if (!event.data.run || !now.current.below.has(event.data.run)) return;
    wanted.current.add(event.data.run);
    timer.current ??= setTimeout(() => {
      timer.current = null;
      const ids = [...wanted.current].slice(0, MOST_PATCHED);
      for (const id of ids) wanted.current.delete(id);
      const { columns, sparklines } = now.current.question;
      call("search_runs", { body: { where: [{ kind: "attribute", key: "id", op: "IN", value: ids }], include_children: true, archived: "all", columns, sparklines, limit: MOST_PATCHED } })
        .then((page) => change((before) => patchRows(before, page.runs)))
        .catch(() => undefined); // the next event asks again
    }, GATHER_MS);
  });
}
