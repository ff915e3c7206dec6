/** Experiments as the table shows them: found, sorted, with the last run of each. Pure. */
import type { BriefRun, ExperimentCounted as Experiment } from "@/api/types";
import type { Sort } from "@/components/Table";

export interface Shown extends Experiment {
  last: BriefRun | null;
}

const SORTS: Record<string, (row: Shown) => string | number> = {
  name: (row) => row.name.toLowerCase(),
  runs: (row) => row.shown_count,
  created: (row) => row.created_utc,
  last: (row) => row.last?.created_utc ?? "",
};

export function parseSort(text: string | null): Sort {
  const id = (text ?? "").replace(/^-/, "");
  return id in SORTS ? { id, ascending: !text?.startsWith("-") } : { id: "last", ascending: false };
}

/** `newest` are the last runs of all experiments, newest first: those of an experiment that has rested for long are not among them. */
export function shownOf(experiments: readonly Experiment[], newest: readonly BriefRun[], text: string, sort: Sort): Shown[] {
  const last = new Map<string, BriefRun>();
  for (const run of newest) if (!last.has(run.experiment)) last.set(run.experiment, run);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const by = SORTS[sort.id] as (row: Shown) => string | number;
  return experiments
    .filter((each) => words.every((word) => `${each.name} ${Object.entries(each.tags).flat().join(" ")}`.toLowerCase().includes(word)))
    .map((each) => ({ ...each, last: last.get(each.name) ?? null }))
    .sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (sort.ascending ? 1 : -1) || (a.name < b.name ? -1 : 1);
    });
}
