/** What runs that run now have logged: their progress, and one curve each. */
import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { TableRun } from "@/api/types";
import { mainMetric } from "./progress";

const MOST_CURVES = 4; // different names in one answer

export interface Logged {
  run: TableRun;
  /** Of the curve in `run.series`. */
  name: string | null;
}

/** By run id. Asked anew as they log, like everything whose key begins with "runs". */
export function useCurves(ids: readonly string[]): Map<string, Logged> {
  const asked = useQuery({
    queryKey: keys.runs({ curves: ids }),
    queryFn: ({ signal }) => askCurves(ids, signal),
    enabled: ids.length > 0,
    placeholderData: (before) => before,
  });
  return asked.data ?? new Map();
}

async function askCurves(ids: readonly string[], signal: AbortSignal): Promise<Map<string, Logged>> {
  const body = { where: [{ kind: "attribute" as const, key: "id", op: "IN", value: ids }], include_children: true, archived: "all" as const, limit: ids.length };
  const { runs } = await call("search_runs", { body, signal });
  const names = new Map(runs.map((run) => [run.id, mainMetric(Object.keys(run.metrics))]));
  const wanted = [...new Set([...names.values()].filter((name): name is string => name !== null))].slice(0, MOST_CURVES);
  const drawn = wanted.length ? (await call("search_runs", { body: { ...body, columns: { metrics: [], params: [], tags: [] }, sparklines: { metrics: wanted, points: 60 } }, signal })).runs : [];
  const series = new Map(drawn.map((run) => [run.id, run.series]));
  return new Map(runs.map((run) => [run.id, { run: { ...run, series: series.get(run.id) }, name: names.get(run.id) ?? null }]));
}
