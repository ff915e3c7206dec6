/** Copy and paste, also into another draft or another window: a part of a graph as text. Pure. */
import type { Graph, GraphNode, Note, PipelineParameter, Place } from "./model";
import { boundTo, placeOf } from "./model";
import { freeName } from "./parameters";

interface Fragment {
  rookery: "pipeline-part";
  nodes: Record<string, GraphNode>;
  layout: Record<string, Place>;
  notes: Note[];
  parameters: Record<string, PipelineParameter>;
}

/** What is chosen, with the lines among it. */
export function copy(graph: Graph, ids: ReadonlySet<string>): string {
  const nodes: Record<string, GraphNode> = {};
  const layout: Record<string, Place> = {};
  const parameters: Record<string, PipelineParameter> = {};
  for (const id of ids) {
    const node = graph.nodes[id];
    if (!node) continue;
    nodes[id] = node;
    layout[id] = placeOf(graph, id);
    for (const value of Object.values(node.parameters ?? {})) {
      const name = boundTo(value);
      const parameter = name === null ? undefined : graph.parameters?.[name];
      if (name !== null && parameter) parameters[name] = parameter;
    }
  }
  const fragment: Fragment = { rookery: "pipeline-part", nodes, layout, notes: (graph.notes ?? []).filter((note) => ids.has(note.id)), parameters };
  return JSON.stringify(fragment);
}

export interface Pasted {
  graph: Graph;
  ids: string[];
}

/** Null where the text is nothing of ours. Lines to modules that were not copied stay where those are still there (a copy beside its original). */
export function paste(graph: Graph, text: string, by: Place | null = null): Pasted | null {
  const fragment = parse(text);
  if (!fragment) return null;
  const taken = new Set([...Object.keys(graph.nodes), ...(graph.notes ?? []).map((note) => note.id)]);
  const names = new Map<string, string>();
  for (const id of [...Object.keys(fragment.nodes), ...fragment.notes.map((note) => note.id)]) {
    const name = freeName(id.replace(/_\d+$/, ""), taken);
    taken.add(name);
    names.set(id, name);
  }
  const shift = by ?? freeShift(graph, fragment);
  const moved = (place: Place) => ({ x: Math.round(place.x + shift.x), y: Math.round(place.y + shift.y) });
  const nodes = { ...graph.nodes };
  const layout = { ...graph.layout };
  for (const [id, node] of Object.entries(fragment.nodes)) {
    const name = names.get(id) as string;
    const inputs = Object.entries(node.inputs ?? {}).flatMap(([port, source]) => {
      const inside = names.get(source.node);
      if (inside) return [[port, { ...source, node: inside }] as const];
      return graph.nodes[source.node] ? [[port, source] as const] : [];
    });
    nodes[name] = node.inputs ? { ...node, inputs: Object.fromEntries(inputs) } : node;
    layout[name] = moved(fragment.layout[id] ?? { x: 0, y: 0 });
  }
  const notes = fragment.notes.map((note) => ({ ...note, ...moved(note), id: names.get(note.id) as string }));
  return {
    graph: { ...graph, nodes, layout, notes: [...(graph.notes ?? []), ...notes], parameters: { ...fragment.parameters, ...graph.parameters } },
    ids: [...names.values()],
  };
}

/** As far to the side as it takes not to lie on what is there. */
function freeShift(graph: Graph, fragment: Fragment): Place {
  const there = new Set([...Object.values(graph.layout ?? {}), ...(graph.notes ?? [])].map((place) => `${place.x},${place.y}`));
  const places = [...Object.values(fragment.layout), ...fragment.notes];
  for (let step = 0; ; step += 32) if (!places.some((place) => there.has(`${place.x + step},${place.y + step}`))) return { x: step, y: step };
}

function parse(text: string): Fragment | null {
  try {
    const found = JSON.parse(text) as Fragment;
    const isOurs = found?.rookery === "pipeline-part" && typeof found.nodes === "object" && found.nodes !== null;
    return isOurs ? { ...found, layout: found.layout ?? {}, notes: found.notes ?? [], parameters: found.parameters ?? {} } : null;
  } catch {
    return null;
  }
}
