/** Looking for a text in a log: the keeper looks, a part at a time; here is only which of the found ones one is at. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { nextPlace } from "./places";

export interface Find {
  text: string;
  /** Lines, in order, each once. */
  lines: readonly number[];
  /** How many times it stands there, as far as was looked. */
  count: number;
  hasMore: boolean;
  isLooking: boolean;
  error: unknown;
  next: () => void;
  previous: () => void;
}

const MOST = 500;

export function useFind(run: string, name: string, text: string, size: number, at: number | null, go: (line: number) => void): Find {
  const asked = useInfiniteQuery({
    queryKey: keys.log(run, "find", name, text),
    queryFn: ({ pageParam, signal }) => call("search_log", { path: { run_id: run, name }, query: { text, after: pageParam, limit: MOST }, signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
    enabled: text !== "",
    staleTime: Infinity,
  });
  const { data, hasNextPage, fetchNextPage, refetch, isFetching } = asked;
  const pages = text ? data?.pages : undefined;
  const lines = useMemo(() => [...new Set((pages ?? []).flatMap((page) => page.matches.map((match) => match.line)))], [pages]);
  const count = (pages ?? []).reduce((sum, page) => sum + page.matches.length, 0);

  // A part of a large log without a match says nothing yet: look on until there is one.
  const isEmpty = pages !== undefined && count === 0;
  useEffect(() => {
    if (isEmpty && hasNextPage && !isFetching) void fetchNextPage();
  }, [isEmpty, hasNextPage, isFetching, fetchNextPage]);

  // The first one found is gone to by itself, once for each text that is typed here; not for one that came with the address.
  const arrived = useRef(text);
  const first = lines[0];
  useEffect(() => {
    if (!text || first === undefined || arrived.current === text) return;
    arrived.current = text;
    go(at === null ? first : (nextPlace(lines, at - 1, 1) ?? first));
  }, [text, first, lines, at, go]);

  const move = (step: 1 | -1) => {
    const isAtEnd = at !== null && at >= (lines[lines.length - 1] ?? 0);
    if (step === 1 && isAtEnd && hasNextPage) {
      void fetchNextPage().then((more) => {
        const all = (more.data?.pages ?? []).flatMap((page) => page.matches.map((match) => match.line));
        const found = nextPlace(all, at, 1);
        if (found !== null) go(found);
      });
      return;
    }
    const known = pages?.[pages.length - 1]?.size ?? 0;
    if (step === 1 && isAtEnd && size > known) void refetch(); // it has grown meanwhile
    const found = nextPlace(lines, at ?? -1, step);
    if (found !== null) go(found);
  };
  return { text, lines, count, hasMore: hasNextPage, isLooking: isFetching && text !== "", error: text ? asked.error : null, next: () => move(1), previous: () => move(-1) };
}
