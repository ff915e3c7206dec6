/** The curves of one chart: asked for when it comes into sight, again when it is zoomed, and anew when something was logged. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { makeBatch, type Question } from "./batch";
import type { ChartPlan } from "./charts";
import { spread, toCurves, type Drawn, type Series } from "./curves";
import { askedRange, type View } from "./view";

const load = makeBatch<Series>(async ({ run, points, x, from, to, by }: Question, names) => (await call("get_series", { path: { run_id: run }, query: { name: names, points, x, from, to, by } })).series);

export interface Loaded {
  drawn: Drawn | null;
  series: readonly Series[];
  error: unknown;
  retry: () => void;
}

export function useSeries(run: string, plan: ChartPlan, view: View, start: number, points: number, isSeen: boolean): Loaded {
  const question: Question = { run, points, x: view.x === "step" ? "step" : "time", ...askedRange(view.zoom, start), by: view.isByRank ? "rank" : null };
  const names = plan.lines.map((line) => line.name);
  const asked = useQuery({
    queryKey: keys.run(run, "series", names, question),
    queryFn: () => Promise.all(names.map((name) => load(question, name))),
    enabled: isSeen,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
  const { data } = asked;
  const found = useMemo(() => (data ? spread(plan.lines, data) : null), [data, plan.lines]);
  const drawn = useMemo(
    // What is kept from before may be of another axis: then it is not drawn.
    () => (found && found.series.every((each) => each.x === question.x) ? toCurves(found.lines, found.series, { smooth: view.smooth, isLog: view.isLog, start }) : null),
    [found, view.smooth, view.isLog, start, question.x],
  );
  return { drawn, series: found?.series ?? [], error: asked.data ? null : asked.error, retry: () => void asked.refetch() };
}
