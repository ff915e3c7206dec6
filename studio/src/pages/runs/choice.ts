/** Which columns the table shows, in which order: what somebody chose (remembered in this browser), or what suits most. Pure but for storage. */
import { byTelling } from "@/charts/telling";

export type ColumnId = string; // "status", "metric:loss", "chart:loss" (value and curve), "param:lr", "tag:team"

export const FIXED: Record<string, string> = {
  name: "Run",
  status: "Status",
  experiment: "Experiment",
  created: "Created",
  started: "Started",
  ended: "Ended",
  duration: "Duration",
  compute: "Compute",
  user: "By",
  cause: "Cause of failure",
  kind: "Kind",
  number: "Number",
  attempt: "Attempt",
  nodes: "Nodes",
  id: "Id",
};

const KEY = "rookery.columns";
const MOST_CHARTS = 4; // the keeper draws no more in one answer
const MOST = 200;

/** `chart:loss` → ["chart", "loss"]; `status` → ["", "status"]. */
export function splitId(id: ColumnId): [kind: string, name: string] {
  const colon = id.indexOf(":");
  return colon < 0 ? ["", id] : [id.slice(0, colon), id.slice(colon + 1)];
}

/** The metrics to begin with: of those that most runs have, the ones that say most. */
export function topMetrics(known: readonly { name: string; runs: number }[], most = 2): string[] {
  const often = known.filter((each) => each.runs * 2 >= (known[0]?.runs ?? 0));
  return often.map((each) => each.name).sort(byTelling).slice(0, most);
}

/** What is shown where nobody has chosen: with the metric that most runs have, as a small chart. */
export function defaultColumns(topMetrics: readonly string[], isOfExperiment: boolean): ColumnId[] {
  const charts = topMetrics.slice(0, isOfExperiment ? 2 : 1).map((name) => `chart:${name}`);
  return ["name", "status", ...(isOfExperiment ? [] : ["experiment"]), "created", "duration", ...charts, "compute", "user"];
}

/** Known ones, each once, the name always and first. */
export function cleanColumns(ids: readonly unknown[]): ColumnId[] {
  const known = ids.filter((id): id is string => typeof id === "string" && (id in FIXED || /^(metric|chart|param|tag):./s.test(id)));
  return [...new Set(["name", ...known])].slice(0, MOST);
}

export function moveColumn(ids: readonly ColumnId[], id: ColumnId, step: number): ColumnId[] {
  const at = ids.indexOf(id);
  const to = Math.max(1, Math.min(ids.length - 1, at + step)); // the name stays first
  const next = ids.filter((each) => each !== id);
  return at < 1 ? [...ids] : [...next.slice(0, to), id, ...next.slice(to)];
}

/** What the keeper must send for these columns, and no more. */
export function columnsAsked(ids: readonly ColumnId[]): { columns: { metrics: string[]; params: string[]; tags: string[] }; sparklines?: { metrics: string[]; points: number } } {
  const of = (...kinds: string[]) => [...new Set(ids.map(splitId).filter(([kind]) => kinds.includes(kind)).map(([, name]) => name))];
  const charts = of("chart").slice(0, MOST_CHARTS);
  const columns = { metrics: of("metric", "chart"), params: of("param"), tags: of("tag") };
  return charts.length ? { columns, sparklines: { metrics: charts, points: 40 } } : { columns };
}

/** In an address: parted by commas. */
export function formatColumns(ids: readonly ColumnId[]): string {
  return ids.map((id) => id.replace(/[%,]/g, (sign) => encodeURIComponent(sign))).join(",");
}

export function parseColumns(text: string | null): ColumnId[] | null {
  return text ? cleanColumns(text.split(",").map((id) => id.replace(/%(25|2C)/gi, (sign) => decodeURIComponent(sign)))) : null;
}

/** Every experiment has its own, because it has its own metrics. */
export function readColumns(experiment = ""): ColumnId[] | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(experiment)) ?? "null");
    return Array.isArray(kept) ? cleanColumns(kept) : null;
  } catch {
    return null;
  }
}

export function keepColumns(ids: readonly ColumnId[] | null, experiment = ""): void {
  try {
    if (ids) localStorage.setItem(keyOf(experiment), JSON.stringify(ids));
    else localStorage.removeItem(keyOf(experiment));
  } catch {
    // not remembered then
  }
}

function keyOf(experiment: string): string {
  return experiment ? `${KEY}.${experiment}` : KEY;
}
