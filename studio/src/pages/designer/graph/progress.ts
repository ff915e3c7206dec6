/** How far a step is: what it logs against what it was given. Pure. */
import { progressOf, type Progress } from "@/pages/home/progress";
import { boundTo, cardOf, type Catalog, type Graph } from "./model";

export interface Logged {
  name: string;
  kind: string;
  total: number;
  last: unknown;
}

/** By a metric `progress` or `epoch`; by rows that a training logs one of in each epoch. Null where nothing tells. */
export function progressOfStep(metrics: readonly Logged[], given: Readonly<Record<string, unknown>>): Progress | null {
  const last = Object.fromEntries(metrics.filter((metric) => typeof metric.last === "number").map((metric) => [metric.name, metric.last as number]));
  const params = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const told = progressOf({ metrics: last, params });
  if (told) return told;
  const epochs = Number(given.epochs);
  const rows = metrics.find((metric) => metric.kind === "row" && /loss/i.test(metric.name))?.total ?? 0;
  if (!Number.isFinite(epochs) || epochs <= 0 || rows <= 0 || rows > epochs) return null;
  return { share: rows / epochs, words: `epoch ${rows} of ${epochs}` };
}

/** What a node was given, with the pipeline's values and the card's defaults put in. */
export function valuesOf(graph: Graph, id: string, catalog: Catalog, parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const node = graph.nodes[id];
  const card = cardOf(node, catalog);
  const defaults = Object.fromEntries((card?.parameters ?? []).map((each) => [each.name, each.default]));
  const own = Object.entries(node?.parameters ?? {}).map(([name, value]) => {
    const bound = boundTo(value);
    return [name, bound === null ? value : (parameters[bound] ?? graph.parameters?.[bound]?.default)] as const;
  });
  return { ...defaults, ...Object.fromEntries(own) };
}
