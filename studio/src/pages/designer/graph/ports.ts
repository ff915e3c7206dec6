/** Ports, what fits where, and why not. The keeper checks the same when a pipeline is submitted; here it is said before the line is drawn. */
import { cardOf, titleOf, type Card, type CardPort, type Catalog, type Graph, type GraphNode } from "./model";

export interface Ports {
  inputs: readonly CardPort[];
  outputs: readonly CardPort[];
  /** False: nobody knows this module; its ports are those that the graph itself names. */
  isKnown: boolean;
}

/** A data set may be anything, so it fits every input; and whoever takes any folder takes all. */
const ANYTHING = ["AnyDirectory", "AnyFile", "Any"];
const NO_PORTS: readonly CardPort[] = [];
/** Kinds whose ports stand in the graph itself. */
const SCRIPTS = ["script", "tune"];
const DATA_PORTS: readonly CardPort[] = [{ name: "data", label: "Data set", types: ["AnyDirectory", "AnyFile"], optional: false, help: "A registered data set." }];
const MODEL_PORTS: readonly CardPort[] = [{ name: "model", label: "Model", types: ["ModelDirectory"], optional: false, help: "A registered model." }];

/** A node's ports: of its card, or as far as the graph tells. */
export function portsOf(graph: Graph, id: string, catalog: Catalog): Ports {
  const node = graph.nodes[id];
  if (!node) return { inputs: [], outputs: [], isKnown: false };
  if (node.kind === "data") return { inputs: NO_PORTS, outputs: DATA_PORTS, isKnown: true };
  if (node.kind === "model") return { inputs: NO_PORTS, outputs: MODEL_PORTS, isKnown: true };
  if (SCRIPTS.includes(node.kind)) return { inputs: named(Object.keys(node.inputs ?? {})), outputs: named(Object.keys(node.outputs ?? {})), isKnown: true };
  const card = cardOf(node, catalog);
  if (card) return { inputs: withExtra(card, node), outputs: card.outputs, isKnown: true };
  return { inputs: named(Object.keys(node.inputs ?? {})), outputs: named(usedOutputs(graph, id)), isKnown: false };
}

/** Whether what comes out of one port can go into another. */
export function fits(output: readonly string[], input: readonly string[]): boolean {
  if (input.length === 0 || output.length === 0) return true; // nothing is known of one of them
  return output.some((type) => ANYTHING.includes(type) || input.includes(type)) || input.some((type) => ANYTHING.includes(type));
}

export interface Wanted {
  source: string;
  sourcePort: string;
  target: string;
  targetPort: string;
}

/** Why a line cannot be drawn, as a sentence; null where it can. */
export function whyRefused(graph: Graph, catalog: Catalog, wanted: Wanted): string | null {
  const from = graph.nodes[wanted.source];
  const to = graph.nodes[wanted.target];
  if (!from || !to) return "One of the two modules is no longer there.";
  const output = portsOf(graph, wanted.source, catalog).outputs.find((port) => port.name === wanted.sourcePort);
  const input = portsOf(graph, wanted.target, catalog).inputs.find((port) => port.name === wanted.targetPort);
  const fromTitle = titleOf(from, catalog);
  const toTitle = titleOf(to, catalog);
  if (!output) return `${fromTitle} has no output '${wanted.sourcePort}'. Draw from a port at the foot of a module to one at the head of another.`;
  if (!input) return `${toTitle} has no input '${wanted.targetPort}'. Draw from a port at the foot of a module to one at the head of another.`;
  if (wanted.source === wanted.target) return `${fromTitle} cannot feed itself. Connect it to another module.`;
  if (!fits(output.types, input.types)) {
    return `'${output.label}' of ${fromTitle} gives ${list(output.types)}; '${input.label}' of ${toTitle} takes ${list(input.types, "or")}.${makersOf(input, catalog)}`;
  }
  if (reaches(graph, wanted.target, wanted.source)) {
    return `${fromTitle} already works on what ${toTitle} makes: this line would make a circle. A pipeline goes one way only.`;
  }
  return null;
}

/** Whether one gets to `to` from `from` along the lines. */
export function reaches(graph: Graph, from: string, to: string): boolean {
  const next = followers(graph);
  const seen = new Set<string>();
  const open = [from];
  while (open.length > 0) {
    const id = open.pop() as string;
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(next.get(id) ?? []));
  }
  return false;
}

/** Who works on what each node makes, or has to wait for it. */
export function followers(graph: Graph): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (from: string, to: string) => {
    const list = found.get(from);
    if (list) list.push(to);
    else found.set(from, [to]);
  };
  for (const [id, node] of Object.entries(graph.nodes)) for (const source of Object.values(node.inputs ?? {})) add(source.node, id);
  for (const [before, after] of graph.after ?? []) add(before, after);
  return found;
}

/** Outputs that could go into an input: for those who choose from a list instead of drawing. */
export function possibleSources(graph: Graph, catalog: Catalog, target: string, targetPort: string): { node: string; port: string; label: string }[] {
  return Object.entries(graph.nodes).flatMap(([source, node]) =>
    portsOf(graph, source, catalog)
      .outputs.filter((port) => whyRefused(graph, catalog, { source, sourcePort: port.name, target, targetPort }) === null)
      .map((port) => ({ node: source, port: port.name, label: `${titleOf(node, catalog)} · ${port.label}` })),
  );
}

function makersOf(input: CardPort, catalog: Catalog): string {
  const makers = [...new Set([...catalog.values()].filter((card) => card.outputs.some((port) => fits(port.types, input.types))).map((card) => card.title))];
  return makers.length > 0 && makers.length <= 6 ? ` That comes from ${list(makers, "or")}.` : "";
}

function list(words: readonly string[], last = "and"): string {
  return words.length < 2 ? (words[0] ?? "nothing") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** A graph may feed a port that the card has not: it is shown, so that the line is not lost. */
function withExtra(card: Card, node: GraphNode): readonly CardPort[] {
  const extra = Object.keys(node.inputs ?? {}).filter((name) => !card.inputs.some((port) => port.name === name));
  return extra.length ? [...card.inputs, ...named(extra)] : card.inputs;
}

function usedOutputs(graph: Graph, id: string): string[] {
  const used = new Set<string>();
  for (const node of Object.values(graph.nodes)) for (const source of Object.values(node.inputs ?? {})) if (source.node === id) used.add(source.port);
  return [...used];
}

function named(names: readonly string[]): CardPort[] {
  return names.map((name) => ({ name, label: name, types: [], optional: true, help: "" }));
}
