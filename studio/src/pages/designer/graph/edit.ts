/** Every change of a graph as a function from the old one to the new one. Nothing is changed in place, and unknown keys stay. */
import type { Card, Graph, GraphNode, Group, Note, PipelineParameter, Place, Source } from "./model";
import { boundTo } from "./model";
import { freeName } from "./parameters";

export interface Added {
  graph: Graph;
  id: string;
}

export function addNode(graph: Graph, node: GraphNode, at: Place, wanted: string): Added {
  const id = freeName(wanted, Object.keys(graph.nodes));
  return { id, graph: { ...graph, nodes: { ...graph.nodes, [id]: node }, layout: { ...graph.layout, [id]: round(at) } } };
}

export function addModule(graph: Graph, card: Card, at: Place): Added {
  return addNode(graph, { kind: "module", module: card.name, title: null, comment: "", parameters: {}, inputs: {} }, at, card.name);
}

export function addData(graph: Graph, dataset: string, at: Place): Added {
  return addNode(graph, { kind: "data", dataset, version: null }, at, dataset);
}

export function addModel(graph: Graph, model: string, at: Place): Added {
  return addNode(graph, { kind: "model", model, version: null }, at, model);
}

export function patchNode(graph: Graph, id: string, patch: Partial<GraphNode>): Graph {
  const node = graph.nodes[id];
  if (!node || Object.keys(patch).every((key) => node[key] === patch[key])) return graph;
  return { ...graph, nodes: { ...graph.nodes, [id]: { ...node, ...patch } } };
}

/** `undefined`: as the card says. */
export function setParameter(graph: Graph, id: string, name: string, value: unknown): Graph {
  const node = graph.nodes[id];
  if (!node) return graph;
  const { [name]: _, ...rest } = node.parameters ?? {};
  return patchNode(graph, id, { parameters: value === undefined ? rest : { ...node.parameters, [name]: value } });
}

export function setRunSetting(graph: Graph, id: string, name: string, value: unknown): Graph {
  const settings = { ...graph.nodes[id]?.run_settings };
  if (value === null || value === undefined) delete settings[name];
  else settings[name] = value;
  return patchNode(graph, id, { run_settings: settings });
}

/** An input has one source: a second line replaces the first. */
export function connect(graph: Graph, source: Source, target: Source): Graph {
  const node = graph.nodes[target.node];
  if (!node) return graph;
  return patchNode(graph, target.node, { inputs: { ...node.inputs, [target.port]: { node: source.node, port: source.port } } });
}

export function disconnect(graph: Graph, target: Source): Graph {
  const node = graph.nodes[target.node];
  if (!node?.inputs?.[target.port]) return graph;
  const { [target.port]: _, ...inputs } = node.inputs;
  return patchNode(graph, target.node, { inputs });
}

/** Nodes and notes, and every line to them. Groups that are left with nothing go too. */
export function remove(graph: Graph, ids: ReadonlySet<string>): Graph {
  const nodes: Record<string, GraphNode> = {};
  for (const [id, node] of Object.entries(graph.nodes)) {
    if (ids.has(id)) continue;
    const kept = Object.entries(node.inputs ?? {}).filter(([, source]) => !ids.has(source.node));
    nodes[id] = kept.length === Object.keys(node.inputs ?? {}).length ? node : { ...node, inputs: Object.fromEntries(kept) };
  }
  return {
    ...graph,
    nodes,
    after: (graph.after ?? []).filter(([before, after]) => !ids.has(before) && !ids.has(after)),
    layout: Object.fromEntries(Object.entries(graph.layout ?? {}).filter(([id]) => !ids.has(id))),
    groups: (graph.groups ?? []).map((group) => ({ ...group, nodes: group.nodes.filter((id) => !ids.has(id)) })).filter((group) => group.nodes.length > 0),
    notes: (graph.notes ?? []).filter((note) => !ids.has(note.id)),
  };
}

/** Nodes and notes by id. */
export function move(graph: Graph, places: ReadonlyMap<string, Place>): Graph {
  if (places.size === 0) return graph;
  const layout = { ...graph.layout };
  for (const [id, place] of places) if (graph.nodes[id]) layout[id] = round(place);
  return { ...graph, layout, notes: (graph.notes ?? []).map((note) => (places.has(note.id) ? { ...note, ...round(places.get(note.id) as Place) } : note)) };
}

export function addNote(graph: Graph, at: Place): Added {
  const id = freeName("note", [...(graph.notes ?? []).map((note) => note.id), ...Object.keys(graph.nodes)]);
  return { id, graph: { ...graph, notes: [...(graph.notes ?? []), { id, text: "", ...round(at), width: 220, height: 96 }] } };
}

export function patchNote(graph: Graph, id: string, patch: Partial<Note>): Graph {
  return { ...graph, notes: (graph.notes ?? []).map((note) => (note.id === id ? { ...note, ...patch } : note)) };
}

/** A node is in one group at most. */
export function group(graph: Graph, ids: readonly string[], title = "Group"): Graph {
  const members = ids.filter((id) => graph.nodes[id]);
  if (members.length === 0) return graph;
  const left = (graph.groups ?? []).map((each) => ({ ...each, nodes: each.nodes.filter((id) => !members.includes(id)) })).filter((each) => each.nodes.length > 0);
  const id = freeName("group", [...left.map((each) => each.id), ...Object.keys(graph.nodes)]);
  return { ...graph, groups: [...left, { id, title, nodes: members, collapsed: false }] };
}

export function ungroup(graph: Graph, id: string): Graph {
  return { ...graph, groups: (graph.groups ?? []).filter((each) => each.id !== id) };
}

export function patchGroup(graph: Graph, id: string, patch: Partial<Group>): Graph {
  return { ...graph, groups: (graph.groups ?? []).map((each) => (each.id === id ? { ...each, ...patch } : each)) };
}

export function setPipelineParameter(graph: Graph, name: string, parameter: PipelineParameter): Graph {
  return { ...graph, parameters: { ...graph.parameters, [name]: parameter } };
}

/** Away with it; whatever was bound to it gets its default. */
export function removePipelineParameter(graph: Graph, name: string): Graph {
  const { [name]: gone, ...parameters } = graph.parameters ?? {};
  const nodes = Object.fromEntries(
    Object.entries(graph.nodes).map(([id, node]) => {
      const bound = Object.entries(node.parameters ?? {}).filter(([, value]) => boundTo(value) === name);
      if (bound.length === 0) return [id, node];
      return [id, { ...node, parameters: { ...node.parameters, ...Object.fromEntries(bound.map(([key]) => [key, gone?.default])) } }];
    }),
  );
  return { ...graph, parameters, nodes };
}

/** Whole pixels: an address of a place that can be read, and no change by a thousandth. */
function round(place: Place): Place {
  return { x: Math.round(place.x), y: Math.round(place.y) };
}
