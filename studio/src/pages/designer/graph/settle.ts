/** A graph whose nodes all lie somewhere: what has a place keeps it, what has none (from Python, YAML, the API) gets one. Pure. */
import { move } from "./edit";
import { autoLayout, freePlace, GAP_Y, heightOf } from "./layout";
import type { Catalog, Graph, Place } from "./model";

/** The same graph where nothing is missing. */
export function settle(graph: Graph, catalog: Catalog = NO_CARDS): Graph {
  const missing = Object.keys(graph.nodes).filter((id) => !isPlace(graph.layout?.[id]));
  if (missing.length === 0) return graph;
  const wishes = autoLayout(graph, catalog);
  if (missing.length === Object.keys(graph.nodes).length) return move(graph, wishes);
  // Where somebody has laid some of them: beside those, as the layout would have put them beside each other.
  let settled: Graph = { ...graph, layout: Object.fromEntries(Object.entries(graph.layout ?? {}).filter(([, place]) => isPlace(place))) };
  const order = missing.sort((a, b) => (wishes.get(a)?.y ?? 0) - (wishes.get(b)?.y ?? 0));
  for (const id of order) {
    const wish = wishes.get(id) ?? { x: 0, y: 0 };
    const off = offset(settled, near(settled, id), wishes);
    const wanted = { x: wish.x + off.x, y: Math.max(wish.y + off.y, belowSources(settled, id, catalog)) };
    settled = move(settled, new Map([[id, freePlace(settled, wanted, "beside")]]));
  }
  return settled;
}

const NO_CARDS: Catalog = new Map();

function isPlace(place: Place | undefined): place is Place {
  return Number.isFinite(place?.x) && Number.isFinite(place?.y);
}

function sources(graph: Graph, id: string): string[] {
  const fed = Object.values(graph.nodes[id]?.inputs ?? {}).map((source) => source.node);
  return [...fed, ...(graph.after ?? []).filter(([, after]) => after === id).map(([before]) => before)];
}

/** Those with a place that it is joined to; all that have one where it is joined to none. */
function near(graph: Graph, id: string): string[] {
  const placed = Object.keys(graph.nodes).filter((each) => graph.layout?.[each]);
  const above = sources(graph, id);
  const joined = placed.filter((each) => above.includes(each) || sources(graph, each).includes(id));
  return joined.length > 0 ? joined : placed;
}

/** How far these lie, on average, from where the layout would have put them. */
function offset(graph: Graph, ids: readonly string[], wishes: ReadonlyMap<string, Place>): Place {
  const mean = (side: "x" | "y") => ids.reduce((sum, id) => sum + (graph.layout?.[id]?.[side] ?? 0) - (wishes.get(id)?.[side] ?? 0), 0) / Math.max(1, ids.length);
  return { x: mean("x"), y: mean("y") };
}

function belowSources(graph: Graph, id: string, catalog: Catalog): number {
  const feet = sources(graph, id).flatMap((each) => (graph.layout?.[each] ? [(graph.layout[each] as Place).y + heightOf(graph, each, catalog) + GAP_Y] : []));
  return Math.max(-Infinity, ...feet);
}
