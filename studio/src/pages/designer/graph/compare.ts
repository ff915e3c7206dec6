/** Two runs of a pipeline side by side: which modules differ, and in what. Pure. */
import { boundTo, cardOf, titleOf, type Catalog, type Graph } from "./model";
import type { Step, Steps } from "./steps";

export interface Ran {
  graph: Graph;
  parameters?: Record<string, unknown> | null;
  steps: Steps;
}

export interface Difference {
  /** A parameter, an input, a setting. */
  what: string;
  left: string;
  right: string;
}

export interface Row {
  node: string;
  title: string;
  /** In one of the two only. */
  only: "left" | "right" | null;
  left: Step | null;
  right: Step | null;
  differences: Difference[];
}

/** All modules of both, those that differ first, in the order of the left one. */
export function compareRuns(left: Ran, right: Ran, catalog: Catalog): Row[] {
  const ids = [...new Set([...Object.keys(left.graph.nodes), ...Object.keys(right.graph.nodes)])];
  const rows = ids.map((id): Row => {
    const [a, b] = [left.graph.nodes[id], right.graph.nodes[id]];
    return {
      node: id,
      title: titleOf((a ?? b) as NonNullable<typeof a>, catalog),
      only: a && b ? null : a ? "left" : "right",
      left: left.steps[id] ?? null,
      right: right.steps[id] ?? null,
      differences: a && b ? differ(id, left, right, catalog) : [],
    };
  });
  const isSame = (row: Row) => row.only === null && row.differences.length === 0;
  return [...rows.filter((row) => !isSame(row)), ...rows.filter(isSame)];
}

function differ(id: string, left: Ran, right: Ran, catalog: Catalog): Difference[] {
  const a = values(id, left, catalog);
  const b = values(id, right, catalog);
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((key) => a.get(key) !== b.get(key))
    .map((what) => ({ what, left: a.get(what) ?? "–", right: b.get(what) ?? "–" }));
}

/** What makes a module what it is, as words. */
function values(id: string, ran: Ran, catalog: Catalog): Map<string, string> {
  const node = ran.graph.nodes[id];
  const found = new Map<string, string>();
  if (!node) return found;
  const card = cardOf(node, catalog);
  found.set("Module", String(node.module ?? node.dataset ?? node.model ?? node.kind));
  if (node.version !== null && node.version !== undefined) found.set("Version", String(node.version));
  for (const name of new Set([...(card?.parameters ?? []).map((each) => each.name), ...Object.keys(node.parameters ?? {})])) {
    const parameter = card?.parameters.find((each) => each.name === name);
    const given = node.parameters?.[name] ?? parameter?.default;
    const bound = boundTo(given);
    const value = bound === null ? given : (ran.parameters?.[bound] ?? ran.graph.parameters?.[bound]?.default);
    found.set(parameter?.label ?? name, typeof value === "object" ? JSON.stringify(value) : String(value ?? "–"));
  }
  for (const [port, source] of Object.entries(node.inputs ?? {})) {
    const label = card?.inputs.find((each) => each.name === port)?.label ?? port;
    found.set(`Input: ${label}`, `${source.node} · ${source.port}`);
  }
  return found;
}
