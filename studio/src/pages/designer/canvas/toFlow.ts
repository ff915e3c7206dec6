/** A graph as what the canvas draws: nodes, lines, frames of groups. No React; what has not changed stays the same object, so it is not drawn anew. */
import type { Edge, Node } from "@xyflow/react";
import { NODE_HEIGHT, NODE_WIDTH } from "../graph/layout";
import { cardOf, placeOf, titleOf, type Catalog, type Graph, type GraphNode, type Group, type Note } from "../graph/model";
import { portsOf, type Ports } from "../graph/ports";
import type { Problem } from "../graph/problems";
import type { Step } from "../graph/steps";

export interface StepData extends Record<string, unknown> {
  node: GraphNode;
  title: string;
  category: string;
  ports: Ports;
  problems: readonly Problem[];
  step: Step | null;
  /** 0 to 1 and its words, where the run tells. */
  share: number | null;
  progress: string | null;
  isFound: boolean;
  /** A line to it was just refused. */
  isRefused: boolean;
  isReadOnly: boolean;
  /** Whether order without data ends or begins here: each port costs with every frame, so it is there only then. */
  isAfter: boolean;
  isBefore: boolean;
}
export interface NoteData extends Record<string, unknown> {
  note: Note;
  isReadOnly: boolean;
}
export interface GroupData extends Record<string, unknown> {
  group: Group;
  count: number;
  /** Of its members: the one that matters most. */
  status: string | null;
  hasProblem: boolean;
}

export type StepNode = Node<StepData, "step">;
export type NoteNode = Node<NoteData, "note">;
export type GroupNode = Node<GroupData, "frame" | "box">;
export type CanvasNode = StepNode | NoteNode | GroupNode;

export interface Shown {
  graph: Graph;
  catalog: Catalog;
  problems: ReadonlyMap<string, readonly Problem[]>;
  steps: Readonly<Record<string, Step>> | null;
  progress: ReadonlyMap<string, { share: number; words: string }>;
  found: ReadonlySet<string>;
  refused: string | null;
  isReadOnly: boolean;
}

const NONE: readonly Problem[] = [];
const PADDING = 24;
const HEAD = 30;
export const groupId = (group: Group) => `group:${group.id}`;

/** Members of groups that are closed: they are not drawn, their lines end at the group. */
function hidden(graph: Graph): Map<string, Group> {
  return new Map((graph.groups ?? []).filter((group) => group.collapsed).flatMap((group) => group.nodes.map((id) => [id, group] as const)));
}

/** All nodes. `before` are those drawn now: where nothing differs they are given back. */
export function toNodes(shown: Shown, before: ReadonlyMap<string, CanvasNode>): CanvasNode[] {
  const { graph } = shown;
  const inside = hidden(graph);
  const made: CanvasNode[] = [];
  for (const group of graph.groups ?? []) {
    const node = groupNode(shown, group);
    if (node) made.push(keep(before, node));
  }
  for (const [id, node] of Object.entries(graph.nodes)) if (!inside.has(id)) made.push(keep(before, stepNode(shown, id, node)));
  for (const note of graph.notes ?? []) {
    made.push(
      keep(before, {
        id: note.id, type: "note", position: { x: note.x, y: note.y }, width: note.width, height: note.height, zIndex: -1,
        data: { note, isReadOnly: shown.isReadOnly }, ariaLabel: `Note: ${note.text.slice(0, 80)}`, draggable: !shown.isReadOnly,
      }),
    );
  }
  return made;
}

function stepNode(shown: Shown, id: string, node: GraphNode): StepNode {
  const { catalog, graph } = shown;
  const title = titleOf(node, catalog);
  const step = shown.steps?.[id] ?? null;
  const problems = shown.problems.get(id) ?? NONE;
  const progress = shown.progress.get(id);
  const state = step ? `, ${step.status}` : problems.length ? `, ${problems.length} to mend` : "";
  return {
    id,
    type: "step",
    position: placeOf(graph, id),
    initialWidth: NODE_WIDTH,
    initialHeight: NODE_HEIGHT,
    ariaLabel: `${title}${state}`,
    data: {
      node, title, category: categoryOf(node, catalog), ports: portsOf(graph, id, catalog), problems, step,
      share: progress?.share ?? null, progress: progress?.words ?? null, isFound: shown.found.has(id), isRefused: shown.refused === id, isReadOnly: shown.isReadOnly,
      isAfter: (graph.after ?? []).some(([, after]) => after === id), isBefore: (graph.after ?? []).some(([before]) => before === id),
    },
  };
}

export function categoryOf(node: GraphNode, catalog: Catalog): string {
  if (node.kind === "data") return "Data set";
  if (node.kind === "model") return "Registered model";
  if (node.kind === "script") return "Script";
  const card = cardOf(node, catalog);
  if (card) return (card.category.split("/").at(-1) ?? card.category) + (catalog.get(card.name) === card ? "" : ` · version ${node.version}`);
  return catalog.has(node.module ?? "") ? `Unknown version ${node.version}` : "Unknown module";
}

function groupNode(shown: Shown, group: Group): GroupNode | null {
  const { graph } = shown;
  const members = group.nodes.filter((id) => graph.nodes[id]);
  if (members.length === 0) return null;
  const places = members.map((id) => placeOf(graph, id));
  const left = Math.min(...places.map((place) => place.x));
  const top = Math.min(...places.map((place) => place.y));
  const data: GroupData = { group, count: members.length, status: worst(members.map((id) => shown.steps?.[id]?.status)), hasProblem: members.some((id) => shown.problems.has(id)) };
  const shared = { id: groupId(group), data, draggable: !shown.isReadOnly, ariaLabel: `Group ${group.title}, ${members.length} modules` };
  if (group.collapsed) return { ...shared, type: "box", position: { x: left, y: top }, initialWidth: NODE_WIDTH, initialHeight: NODE_HEIGHT };
  const width = Math.max(...places.map((place) => place.x)) - left + NODE_WIDTH + 2 * PADDING;
  const height = Math.max(...places.map((place) => place.y)) - top + NODE_HEIGHT + 2 * PADDING + HEAD;
  return { ...shared, type: "frame", position: { x: left - PADDING, y: top - PADDING - HEAD }, width, height, zIndex: -2 };
}

const WORST = ["Failed", "Canceled", "Running", "Queued", "NotStarted", "Completed"];

function worst(statuses: readonly (string | undefined)[]): string | null {
  return WORST.find((status) => statuses.includes(status)) ?? statuses.find((status) => status !== undefined) ?? null;
}

/** The one that is drawn already, where it says the same. */
function keep<T extends CanvasNode>(before: ReadonlyMap<string, CanvasNode>, made: T): CanvasNode {
  const old = before.get(made.id);
  if (!old || old.type !== made.type) return made;
  const data = isSame(old.data, made.data) ? old.data : made.data;
  const isAtHome = old.position.x === made.position.x && old.position.y === made.position.y;
  if (data === old.data && isAtHome && old.width === made.width && old.height === made.height && old.ariaLabel === made.ariaLabel) return old;
  return { ...old, ...made, measured: old.measured, selected: old.selected, position: isAtHome ? old.position : made.position, data } as CanvasNode;
}

function isSame(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return Object.keys(b).every((key) => a[key] === b[key] || (SHALLOW.has(key) && isAlike(a[key], b[key])));
}
const SHALLOW = new Set(["ports", "problems"]);

function isAlike(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Lines: data in full, order without data dashed. Those inside one closed group are left out. */
export function toEdges(graph: Graph, catalog: Catalog, steps: Readonly<Record<string, Step>> | null): Edge[] {
  const inside = hidden(graph);
  const end = (id: string, port: string, side: "in" | "out") => {
    const group = inside.get(id);
    return group ? { node: groupId(group), port: side } : { node: id, port };
  };
  const made: Edge[] = [];
  for (const [id, node] of Object.entries(graph.nodes)) {
    for (const [port, source] of Object.entries(node.inputs ?? {})) {
      if (!graph.nodes[source.node]) continue;
      const from = end(source.node, source.port, "out");
      const to = end(id, port, "in");
      if (from.node === to.node && inside.has(id)) continue;
      const type = portsOf(graph, source.node, catalog).outputs.find((each) => each.name === source.port)?.types[0] ?? "";
      made.push({
        id: edgeId(id, port), source: from.node, sourceHandle: from.port, target: to.node, targetHandle: to.port,
        data: { type }, className: `edge-${type}`, ariaLabel: `${titleOf(graph.nodes[source.node] as GraphNode, catalog)} to ${titleOf(node, catalog)}`,
        animated: steps?.[id]?.status === "Running",
      });
    }
  }
  for (const [before, after] of graph.after ?? []) {
    if (!graph.nodes[before] || !graph.nodes[after]) continue;
    const from = end(before, "after", "out");
    const to = end(after, "after", "in");
    if (from.node !== to.node) made.push({ id: `after:${before}:${after}`, source: from.node, target: to.node, sourceHandle: from.port, targetHandle: to.port, className: "edge-order", ariaLabel: `${before} before ${after}` });
  }
  return made;
}

export const edgeId = (node: string, port: string) => `${node}:${port}`;
