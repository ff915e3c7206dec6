/** Which charts the metrics of a run make: grouped by what stands before the first slash, ranks of one metric in one chart. No React. */
import type { Overview } from "../tabs";

export type Metric = Overview["metrics"][number];

export interface Line {
  name: string;
  label: string;
}

export interface ChartPlan {
  /** In the address of the full screen. */
  key: string;
  title: string;
  lines: Line[];
  total: number;
  /** Of the one line that it has; null where it has several. */
  last: number | string | null;
}

export interface Group {
  /** "" are those without a slash. */
  name: string;
  charts: ChartPlan[];
  /** Logged once, or no numbers: shown as a value. */
  values: Metric[];
  /** Images, tables, matrices. */
  items: Metric[];
}

const RANK = /^(.+?)[/_.-]rank[_.-]?(\d+)$/i;
const CURVES = new Set(["scalar", "list"]);

/** In the order in which they were first logged; groups with a name come after those without. */
export function toGroups(metrics: readonly Metric[], wanted = ""): Group[] {
  const groups = new Map<string, Group>();
  const charts = new Map<string, ChartPlan>();
  const find = wanted.trim().toLowerCase();
  for (const metric of metrics) {
    if (find && !metric.name.toLowerCase().includes(find)) continue;
    const { base, label } = splitRank(metric.name);
    const slash = base.indexOf("/");
    const name = slash > 0 ? base.slice(0, slash) : "";
    const group = groups.get(name) ?? { name, charts: [], values: [], items: [] };
    groups.set(name, group);
    if (!CURVES.has(metric.kind)) group.items.push(metric);
    else if (isValue(metric)) group.values.push(metric);
    else {
      let chart = charts.get(base);
      if (!chart) {
        chart = { key: base, title: base, lines: [], total: 0, last: null };
        charts.set(base, chart);
        group.charts.push(chart);
      }
      chart.lines.push({ name: metric.name, label });
      chart.total += metric.total;
      chart.last = chart.lines.length === 1 ? (metric.last as number | string | null) : null;
    }
  }
  for (const chart of charts.values()) chart.lines.sort((a, b) => rankOf(a.label) - rankOf(b.label));
  return joinSmall([...groups.values()]).sort((a, b) => Number(a.name !== "") - Number(b.name !== ""));
}

/** A group of one is none: it goes to those without a name, and screens are not left half empty. */
function joinSmall(groups: Group[]): Group[] {
  const isSmall = (group: Group) => group.name !== "" && group.charts.length + group.values.length < 2;
  const rest = groups.find((group) => group.name === "") ?? { name: "", charts: [], values: [], items: [] };
  for (const group of groups.filter(isSmall)) {
    rest.charts.push(...group.charts);
    rest.values.push(...group.values);
    rest.items.push(...group.items);
  }
  const kept = groups.filter((group) => group !== rest && !isSmall(group));
  return rest.charts.length + rest.values.length + rest.items.length > 0 ? [rest, ...kept] : kept;
}

/** Whether some metric was logged by several ranks: only then there is something to take apart. */
export function hasRanks(metrics: readonly Metric[]): boolean {
  return metrics.some((metric) => metric.by_rank && CURVES.has(metric.kind));
}

/** `loss/rank_3` → one of the curves of `loss`. */
export function splitRank(name: string): { base: string; label: string } {
  const found = RANK.exec(name);
  return found ? { base: found[1] as string, label: `rank ${Number(found[2])}` } : { base: name, label: name };
}

function rankOf(label: string): number {
  return label.startsWith("rank ") ? Number(label.slice(5)) : -1;
}

/** One number, or something that is no number: nothing that a line could be drawn of. */
function isValue(metric: Metric): boolean {
  return metric.total <= 1 || !isNumber(metric.last);
}

function isNumber(value: unknown): boolean {
  return value === null || typeof value === "number" || value === "NaN" || value === "Infinity" || value === "-Infinity";
}
