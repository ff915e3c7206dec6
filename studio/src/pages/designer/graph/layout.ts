/** Where nodes lie: a layered layout from top to bottom, aligning, and a free place for a new one. Pure. */
import { placeOf, titleOf, type Catalog, type Graph, type Place } from "./model";
import { portsOf } from "./ports";

export const NODE_WIDTH = 256;
export const NODE_HEIGHT = 84;
const GAP_X = 48;
export const GAP_Y = 64;
const SWEEPS = 8;

/** A line: who feeds whom, and where along their edges, from -0.5 to 0.5. */
interface Wire {
  from: string;
  to: string;
  out: number;
  into: number;
}

type Hung = readonly { id: string; at: number }[];
type Neighbours = ReadonlyMap<string, Hung>;

/** Every node below all that feed it, near the middle of them, with few crossings; those without any line in rows below. */
export function autoLayout(graph: Graph, catalog: Catalog = NO_CARDS): Map<string, Place> {
  const wires = wiresOf(graph, catalog);
  const joined = new Set(wires.flatMap((wire) => [wire.from, wire.to]));
  const loose = Object.keys(graph.nodes).filter((id) => !joined.has(id));
  const height = (id: string) => heightOf(graph, id, catalog);
  const placed = layered(graph, Object.keys(graph.nodes).filter((id) => joined.has(id)), wires, height);
  const top = placed.size ? Math.max(...[...placed].map(([id, place]) => place.y + height(id))) + GAP_Y : 0;
  const columns = Math.max(3, Math.ceil(Math.sqrt(loose.length)));
  loose.forEach((id, index) => placed.set(id, { x: (index % columns) * (NODE_WIDTH + GAP_X), y: top + Math.floor(index / columns) * (NODE_HEIGHT + GAP_Y) }));
  return placed;
}

const NO_CARDS: Catalog = new Map();
const TITLE_LETTERS = 24;
const COMMENT_LETTERS = 36;

/** About how high it will be once it runs: a long title and a comment take a second line. */
export function heightOf(graph: Graph, id: string, catalog: Catalog): number {
  const node = graph.nodes[id];
  if (!node) return 0;
  const comment = node.comment ? 8 + 15 * Math.min(2, Math.ceil(node.comment.length / COMMENT_LETTERS)) : 0;
  return NODE_HEIGHT + (titleOf(node, catalog).length > TITLE_LETTERS ? 16 : 0) + comment;
}

function wiresOf(graph: Graph, catalog: Catalog): Wire[] {
  const place = (names: readonly string[], name: string) => (names.indexOf(name) + 1) / (names.length + 1) - 0.5;
  const wires: Wire[] = [];
  for (const [id, node] of Object.entries(graph.nodes)) {
    const inputs = portsOf(graph, id, catalog).inputs.map((port) => port.name);
    for (const [port, source] of Object.entries(node.inputs ?? {})) {
      if (!graph.nodes[source.node]) continue;
      const outputs = portsOf(graph, source.node, catalog).outputs.map((each) => each.name);
      wires.push({ from: source.node, to: id, out: place(outputs, source.port), into: place(inputs, port) });
    }
  }
  for (const [before, after] of graph.after ?? []) if (graph.nodes[before] && graph.nodes[after]) wires.push({ from: before, to: after, out: 0, into: 0 });
  return wires;
}

function layered(graph: Graph, ids: readonly string[], wires: readonly Wire[], height: (id: string) => number): Map<string, Place> {
  const above = new Map<string, string[]>(ids.map((id) => [id, []]));
  const below = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of wires) {
    above.get(to)?.push(from);
    below.get(from)?.push(to);
  }
  const rank = ranks(ids, above, below);
  // In the order in which they lie now, so that nothing jumps that need not.
  const order = [...ids].sort((a, b) => placeOf(graph, a).x - placeOf(graph, b).x);
  const layers: string[][] = [];
  for (const id of order) (layers[rank.get(id) ?? 0] ??= []).push(id);
  const filled = Array.from(layers, (layer) => layer ?? []);
  const [before, next] = neighbours(ids, withBends(wires, rank, filled));
  uncross(filled, before, next);
  const placed = places(filled, before, next, height);
  return new Map([...placed].filter(([id]) => !id.startsWith(BEND)));
}

const BEND = "\u0000bend";

/** A line across several layers gets a place of its own in each of them, so that it does not run behind a node. */
function withBends(wires: readonly Wire[], rank: ReadonlyMap<string, number>, layers: string[][]): Wire[] {
  const all: Wire[] = [];
  let count = 0;
  for (const wire of wires) {
    let { from, out } = wire;
    for (let at = (rank.get(wire.from) ?? 0) + 1; at < (rank.get(wire.to) ?? 0); at += 1) {
      const bend = `${BEND}${count++}`;
      layers[at]?.push(bend);
      all.push({ from, to: bend, out, into: 0 });
      [from, out] = [bend, 0];
    }
    all.push({ from, to: wire.to, out, into: wire.into });
  }
  return all;
}

/** For each: whom it hangs on and who hangs on it, and how far to the side their ends are from its own, in widths of a node. */
function neighbours(ids: readonly string[], wires: readonly Wire[]): [Neighbours, Neighbours] {
  const before = new Map<string, { id: string; at: number }[]>(ids.map((id) => [id, []]));
  const next = new Map<string, { id: string; at: number }[]>(ids.map((id) => [id, []]));
  const add = (map: typeof before, key: string, value: { id: string; at: number }) => map.set(key, [...(map.get(key) ?? []), value]);
  for (const wire of wires) {
    add(before, wire.to, { id: wire.from, at: wire.out - wire.into });
    add(next, wire.from, { id: wire.to, at: wire.into - wire.out });
  }
  return [before, next];
}

/** How many steps at most lead to each. What feeds only something far below comes close to it. Circles are cut where they are met. */
function ranks(ids: readonly string[], before: ReadonlyMap<string, string[]>, next: ReadonlyMap<string, string[]>): Map<string, number> {
  const rank = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = rank.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return 0;
    open.add(id);
    const found = Math.max(-1, ...(before.get(id) ?? []).map(visit)) + 1;
    open.delete(id);
    rank.set(id, found);
    return found;
  };
  for (const id of ids) visit(id);
  for (const id of [...ids].sort((a, b) => (rank.get(b) ?? 0) - (rank.get(a) ?? 0))) {
    const below = (next.get(id) ?? []).map((each) => rank.get(each) ?? 0).filter((each) => each > (rank.get(id) ?? 0));
    if (below.length > 0) rank.set(id, Math.min(...below) - 1);
  }
  return rank;
}

/** Each layer in the order of the middle of its neighbours, down and up a few times. */
function uncross(layers: string[][], before: Neighbours, next: Neighbours): void {
  const at = new Map<string, number>();
  const number = (layer: string[]) => layer.forEach((id, index) => at.set(id, index - (layer.length - 1) / 2));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      const wish = new Map(layer.map((id) => [id, middle(((isDown ? before : next).get(id) ?? []).map((each) => (at.get(each.id) ?? 0) + each.at)) ?? (at.get(id) as number)]));
      layer.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number));
      number(layer);
    }
  }
}

/** Side by side without touching, each as near as can be to where its lines would be straight. */
function places(layers: readonly string[][], before: Neighbours, next: Neighbours, height: (id: string) => number): Map<string, Place> {
  const step = NODE_WIDTH + GAP_X;
  const x = new Map<string, number>();
  for (const layer of layers) layer.forEach((id, index) => x.set(id, (index - (layer.length - 1) / 2) * step));
  const settle = (layer: readonly string[], hangs: (id: string) => Hung) => {
    const wish = layer.map((id) => middle(hangs(id).map((each) => (x.get(each.id) ?? 0) + each.at * NODE_WIDTH)) ?? (x.get(id) as number));
    // A bend is a line: it needs less room than a node.
    const gaps = layer.slice(1).map((id, index) => (width(id) + width(layer[index] as string)) / 2 + GAP_X);
    spread(wish, gaps).forEach((value, index) => x.set(layer[index] as string, value));
  };
  const above = (id: string) => before.get(id) ?? [];
  const below = (id: string) => next.get(id) ?? [];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of layers) settle(layer, sweep < SWEEPS / 2 ? above : (id) => [...above(id), ...below(id)]);
    for (const layer of [...layers].reverse()) settle(layer, sweep < SWEEPS / 2 ? below : (id) => [...above(id), ...below(id)]);
  }
  // At last what feeds one alone goes straight above it.
  for (const layer of [...layers].reverse()) settle(layer, (id) => (below(id).length === 1 && width(id) > 0 ? below(id) : []));
  const left = Math.min(...[...x].filter(([id]) => !id.startsWith(BEND)).map(([, value]) => value));
  const placed = new Map<string, Place>();
  let y = 0;
  for (const layer of layers) {
    for (const id of layer) placed.set(id, { x: Math.round((x.get(id) as number) - left), y });
    y += Math.max(NODE_HEIGHT, ...layer.map(height)) + GAP_Y;
  }
  return placed;
}

function width(id: string): number {
  return id.startsWith(BEND) ? 0 : NODE_WIDTH;
}

/** Wishes in order, moved apart to at least the gaps between them, with as little moving as a few passes find. */
function spread(wishes: readonly number[], gaps: readonly number[]): number[] {
  const push = (values: number[]) => {
    for (let index = 1; index < values.length; index += 1) values[index] = Math.max(values[index] as number, (values[index - 1] as number) + (gaps[index - 1] as number));
    return values;
  };
  const right = push([...wishes]);
  const left = [...wishes];
  for (let index = left.length - 2; index >= 0; index -= 1) left[index] = Math.min(left[index] as number, (left[index + 1] as number) - (gaps[index] as number));
  return push(right.map((value, index) => (value + (left[index] as number)) / 2));
}

function middle(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export type Alignment = "left" | "center" | "top" | "row" | "column";

/** Chosen nodes along one line; `row` and `column` also give them equal gaps. */
export function align(graph: Graph, ids: readonly string[], how: Alignment): Map<string, Place> {
  const found = ids.filter((id) => graph.nodes[id]).map((id) => ({ id, ...placeOf(graph, id) }));
  if (found.length < 2) return new Map();
  const left = Math.min(...found.map((each) => each.x));
  const top = Math.min(...found.map((each) => each.y));
  const mean = found.reduce((sum, each) => sum + each.x, 0) / found.length;
  const sorted = [...found].sort((a, b) => (how === "row" ? a.x - b.x : a.y - b.y));
  return new Map(
    sorted.map(({ id, x, y }, index) => {
      if (how === "left") return [id, { x: left, y }];
      if (how === "center") return [id, { x: mean, y }];
      if (how === "top") return [id, { x, y: top }];
      if (how === "row") return [id, { x: left + index * (NODE_WIDTH + GAP_X), y: top }];
      return [id, { x: left, y: top + index * (NODE_HEIGHT + GAP_Y) }];
    }),
  );
}

/** Near this place, where nothing lies yet: below it first, or beside it. */
export function freePlace(graph: Graph, wanted: Place, first: "below" | "beside" = "below"): Place {
  const all = Object.values(graph.layout ?? {});
  const isFree = (place: Place) => !all.some((each) => Math.abs(each.x - place.x) < NODE_WIDTH + 16 && Math.abs(each.y - place.y) < NODE_HEIGHT + 24);
  for (let ring = 0; ring < 40; ring += 1) {
    for (const [x, y] of ring === 0 ? [[0, 0]] : first === "below" ? [[0, ring], ...beside(ring)] : [...beside(ring), [0, ring]]) {
      const place = { x: wanted.x + (x as number) * (NODE_WIDTH + GAP_X), y: wanted.y + (y as number) * (NODE_HEIGHT + GAP_Y) };
      if (isFree(place)) return place;
    }
  }
  return wanted;
}

function beside(ring: number): number[][] {
  return [[ring, 0], [-ring, 0], [ring, ring], [-ring, ring]];
}
