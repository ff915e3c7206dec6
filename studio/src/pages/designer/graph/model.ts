/** A pipeline as it is stored (docs/inside/pipeline.md): nodes by id, what goes into each, and how they lie. Keys that are not known here are kept. */

export type ParameterType = "number" | "integer" | "string" | "boolean" | "data";

/** Where an input comes from. */
export interface Source {
  node: string;
  port: string;
}

export interface RunSettings {
  compute?: string | null;
  node_count?: number;
  process_count_per_node?: number;
  [more: string]: unknown;
}

export interface GraphNode {
  /** module, data, model, script; anything else is shown as a placeholder and kept. */
  kind: string;
  module?: string;
  dataset?: unknown;
  model?: string;
  version?: number | string | null;
  title?: string | null;
  comment?: string;
  parameters?: Record<string, unknown>;
  inputs?: Record<string, Source>;
  outputs?: Record<string, unknown>;
  run_settings?: RunSettings;
  regenerate?: boolean;
  continue_on_failure?: boolean;
  [more: string]: unknown;
}

export interface Place {
  x: number;
  y: number;
}

export interface Group {
  id: string;
  title: string;
  nodes: string[];
  collapsed?: boolean;
  [more: string]: unknown;
}

export interface Note extends Place {
  id: string;
  text: string;
  width: number;
  height: number;
  [more: string]: unknown;
}

export interface PipelineParameter {
  type: ParameterType;
  default?: unknown;
  [more: string]: unknown;
}

export interface Graph {
  version: number;
  name: string;
  description?: string;
  default_compute?: string | null;
  parameters?: Record<string, PipelineParameter>;
  nodes: Record<string, GraphNode>;
  after?: [string, string][];
  layout?: Record<string, Place>;
  groups?: Group[];
  notes?: Note[];
  [more: string]: unknown;
}

/** A port of a card. */
export interface CardPort {
  name: string;
  label: string;
  types: readonly string[];
  optional: boolean;
  help: string;
}

export interface CardParameter {
  name: string;
  label: string;
  /** Integer, Float, Boolean, Mode, String, and whatever else a card says (treated as text). */
  kind: string;
  help: string;
  required: boolean;
  default: unknown;
  low: number | null;
  high: number | null;
  above: number | null;
  choices: readonly string[];
  /** This one counts only while that other one has that value. */
  when: readonly [string, unknown] | null;
}

/** What a module is, as the palette shows it. */
export interface Card {
  name: string;
  title: string;
  category: string;
  help: string;
  distributed: boolean;
  inputs: readonly CardPort[];
  outputs: readonly CardPort[];
  parameters: readonly CardParameter[];
  source?: string;
  version?: unknown;
}

/** By name, and by name@version those that are not what a node gets which names no version. `cardOf` finds what a node means. */
export type Catalog = ReadonlyMap<string, Card>;

export function emptyGraph(name: string): Graph {
  return { version: 1, name, description: "", default_compute: null, parameters: {}, nodes: {}, after: [], layout: {}, groups: [], notes: [] };
}

export function toCatalog(cards: readonly Card[], others: readonly Card[] = []): Catalog {
  return new Map([...cards.map((card) => [card.name, card] as const), ...others.map((card) => [`${card.name}@${String(card.version)}`, card] as const)]);
}

/** The card that a node means: of the version that it names, else the one that counts now. Undefined: there is none. */
export function cardOf(node: Pick<GraphNode, "kind" | "module" | "version"> | undefined, catalog: Catalog): Card | undefined {
  if (node?.kind !== "module") return undefined;
  const card = catalog.get(node.module ?? "");
  if (!card || !namesVersion(node) || String(card.version) === String(node.version)) return card;
  return catalog.get(`${node.module}@${node.version}`);
}

export function namesVersion(node: Pick<GraphNode, "version">): boolean {
  return node.version !== undefined && node.version !== null && node.version !== "";
}

export function placeOf(graph: Graph, id: string): Place {
  return graph.layout?.[id] ?? { x: 0, y: 0 };
}

/** What stands on the node. */
export function titleOf(node: GraphNode, catalog: Catalog): string {
  if (node.title) return node.title;
  switch (node.kind) {
    case "module":
      return (cardOf(node, catalog) ?? catalog.get(node.module ?? ""))?.title ?? node.module ?? "Module";
    case "data":
      return typeof node.dataset === "string" ? node.dataset : (boundTo(node.dataset) ?? "Data");
    case "model":
      return String(node.model ?? "Model");
    case "script":
      return "Script";
    case "tune":
      return "Tune hyperparameters";
    default:
      return String(node.module ?? node.kind);
  }
}

/** A value that comes from a parameter of the pipeline: its name, else null. */
export function boundTo(value: unknown): string | null {
  const name = (value as { pipeline_parameter?: unknown } | null | undefined)?.pipeline_parameter;
  return typeof name === "string" ? name : null;
}
