import { describe, expect, it } from "vitest";
import { birds, CATALOG } from "./fixtures";
import { align, autoLayout, freePlace, NODE_HEIGHT, NODE_WIDTH } from "./layout";
import { emptyGraph, type Graph, type Source } from "./model";

function touching(places: ReadonlyMap<string, { x: number; y: number }>): string[] {
  const all = [...places];
  return all.flatMap(([a, p], index) => all.slice(index + 1).filter(([, q]) => Math.abs(p.x - q.x) < NODE_WIDTH && Math.abs(p.y - q.y) < NODE_HEIGHT).map(([b]) => `${a}-${b}`));
}

/** Chains that join, as many as a large pipeline has. */
function large(count: number): Graph {
  const graph = emptyGraph("large");
  for (let index = 0; index < count; index += 1) {
    const inputs: Record<string, Source> = index < 10 ? {} : { a: { node: `n${index - 10}`, port: "x" }, b: { node: `n${Math.floor(index / 2)}`, port: "x" } };
    graph.nodes[`n${index}`] = { kind: "module", module: "m", inputs };
  }
  return graph;
}

describe("autoLayout", () => {
  it("puts each below what feeds it, and none on another", () => {
    const places = autoLayout(birds());
    const y = (id: string) => places.get(id)?.y ?? NaN;
    expect(y("data")).toBeLessThan(y("convert"));
    expect(y("convert")).toBeLessThan(y("split"));
    expect(y("split")).toBeLessThan(y("train"));
    expect(y("net")).toBe(y("split")); // close to what it feeds
    expect(touching(places)).toEqual([]);
  });
  it("puts what is not connected into rows, not into one long one", () => {
    const graph = emptyGraph("loose");
    for (let index = 0; index < 9; index += 1) graph.nodes[`n${index}`] = { kind: "module", module: "m" };
    const places = autoLayout(graph);
    expect(new Set([...places.values()].map((place) => place.x)).size).toBe(3);
    expect(touching(places)).toEqual([]);
  });
  it("keeps the order of ports, and lets no line run behind a node", () => {
    const graph = birds();
    graph.nodes.late = { kind: "module", module: "train", inputs: { net: { node: "train", port: "model" }, training: { node: "convert", port: "pictures" } } };
    const places = autoLayout(graph, CATALOG);
    const x = (id: string) => places.get(id)?.x ?? NaN;
    expect(x("net")).toBeLessThan(x("split")); // the first port of train is the net's
    expect(Math.abs(x("late") - x("train"))).toBeLessThan(NODE_WIDTH * 1.5);
    expect(touching(places)).toEqual([]);
  });
  it("draws a chain as a straight line, whatever hangs on its end", () => {
    const places = autoLayout(birds(), CATALOG);
    expect(places.get("data")?.x).toBe(places.get("convert")?.x);
    expect(places.get("convert")?.x).toBe(places.get("split")?.x);
  });
  it("leaves more room below what has a long title or a comment", () => {
    const graph = birds();
    const gap = (of: Graph) => {
      const places = autoLayout(of, CATALOG);
      return (places.get("split")?.y ?? NaN) - (places.get("convert")?.y ?? NaN);
    };
    const plain = gap(graph);
    (graph.nodes.convert as { title?: string; comment?: string }).title = "Convert to Image Directory";
    expect(gap(graph)).toBeGreaterThan(plain);
    (graph.nodes.convert as { title?: string; comment?: string }).comment = "of the birds in the wood";
    expect(gap(graph)).toBeGreaterThan(plain + 16);
  });
  it("does 300 nodes, and graphs with a circle", () => {
    expect(touching(autoLayout(large(300)))).toEqual([]);
    const circle = emptyGraph("circle");
    circle.nodes.a = { kind: "module", module: "m", inputs: { i: { node: "b", port: "o" } } };
    circle.nodes.b = { kind: "module", module: "m", inputs: { i: { node: "a", port: "o" } } };
    expect(autoLayout(circle).size).toBe(2);
  });
});

it("aligns", () => {
  const left = align(birds(), ["split", "net", "train"], "left");
  expect([...left.values()].map((place) => place.x)).toEqual([0, 0, 0]);
  expect(touching(align(birds(), ["split", "net", "train"], "row"))).toEqual([]);
  expect(align(birds(), ["split"], "left").size).toBe(0);
});

it("finds a free place", () => {
  const graph = birds();
  const place = freePlace(graph, { x: 0, y: 100 });
  expect(touching(new Map([...Object.entries(graph.layout ?? {}), ["new", place]])).filter((pair) => pair.includes("new"))).toEqual([]);
});
