/** The keeper's comparison → runs with a name and a colour each, and values that can be put on an axis. No React. */
import type { BriefRun, ComparedRow, Comparison } from "@/api/types";

export interface ShownRun {
  id: string;
  /** Told apart from the others: the number is added where names are the same. */
  label: string;
  status: string;
  experiment: string;
  /** Which of the ten colours of a chart; the second ten are dashed. */
  color: number;
  isDashed: boolean;
  /** Unix seconds. */
  start: number;
  place: number;
}

export const COLORS = 10;

export function toShown(runs: readonly BriefRun[]): ShownRun[] {
  const named = runs.map((run) => run.display_name || run.id);
  return runs.map((run, place) => {
    const name = named[place] as string;
    const isAlone = named.filter((each) => each === name).length === 1;
    return {
      id: run.id,
      label: isAlone ? name : `${name} #${run.number}${runs.some((other) => other !== run && other.number === run.number && other.display_name === run.display_name) ? ` (${run.experiment})` : ""}`,
      status: run.status,
      experiment: run.experiment,
      color: place % COLORS,
      isDashed: place >= COLORS,
      start: new Date(run.started_utc ?? run.created_utc).getTime() / 1000,
      place,
    };
  });
}

export type Section = "params" | "metrics" | "tags" | "attributes";
export const SECTIONS: readonly Section[] = ["params", "metrics", "attributes", "tags"];
export const SECTION_WORDS: Record<Section, string> = { params: "Parameters", metrics: "Metrics (last value)", attributes: "About", tags: "Tags" };
const ATTRIBUTE_WORDS: Record<string, string> = { node_count: "nodes", processes_per_node: "processes per node", submitted_by: "by", created_utc: "created", duration_s: "duration" };

export function rowLabel(section: Section, name: string): string {
  return section === "attributes" ? (ATTRIBUTE_WORDS[name] ?? name) : name;
}

/** As it is in the address: `params:lr`. */
export interface Quantity {
  id: string;
  label: string;
  section: Section;
  differs: boolean;
  values: unknown[];
  /** All that are there are numbers. */
  isNumeric: boolean;
}

/** Everything that runs can be laid out by: what was given first, then what came of it. */
export function quantities(comparison: Comparison): Quantity[] {
  const of = (section: Section, rows: readonly ComparedRow[]) =>
    rows.map((row) => ({ id: `${section}:${row.name}`, label: rowLabel(section, row.name), section, differs: row.differs, values: row.values, isNumeric: isNumeric(row.values) }));
  const attributes = comparison.attributes.filter((row) => !["created_utc", "kind"].includes(row.name));
  return [...of("params", comparison.params), ...of("metrics", comparison.metrics), ...of("attributes", attributes), ...of("tags", comparison.tags)].filter((each) => each.values.some((value) => value !== null && value !== ""));
}

export function toNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === "" || typeof value === "boolean") return null;
  const number = typeof value === "number" ? value : typeof value === "string" ? Number(value) : NaN;
  return Number.isFinite(number) ? number : null;
}

/** Whether there is at least one number, and nothing else but what is not finite. */
function isNumeric(values: readonly unknown[]): boolean {
  const there = values.filter((value) => value !== null && value !== "");
  return there.some((value) => toNumber(value) !== null) && there.every((value) => toNumber(value) !== null || value === "NaN" || value === "Infinity" || value === "-Infinity");
}
