import { describe, expect, it } from "vitest";
import { birds, CATALOG } from "./fixtures";
import { NODE_HEIGHT, NODE_WIDTH } from "./layout";
import type { Graph, Place } from "./model";
import { settle } from "./settle";

function overlapping(graph: Graph): string[] {
  const all = Object.entries(graph.layout ?? {});
  return all.flatMap(([a, p], index) => all.slice(index + 1).filter(([, q]) => Math.abs(p.x - q.x) < NODE_WIDTH && Math.abs(p.y - q.y) < NODE_HEIGHT).map(([b]) => `${a}-${b}`));
}

function without(...ids: string[]): Graph {
  const graph = birds();
  return { ...graph, layout: Object.fromEntries(Object.entries(graph.layout ?? {}).filter(([id]) => !ids.includes(id))) };
}

const upward = (graph: Graph) =>
  Object.entries(graph.nodes).flatMap(([id, node]) =>
    Object.values(node.inputs ?? {}).flatMap((source) => ((graph.layout?.[source.node] as Place).y < (graph.layout?.[id] as Place).y ? [] : [`${source.node}-${id}`])),
  );

describe("settle", () => {
  it("leaves a graph alone that lies somewhere already", () => {
    const graph = birds();
    expect(settle(graph, CATALOG)).toBe(graph);
  });
  it("lays out from top to bottom what lies nowhere, however little it says of layout", () => {
    for (const layout of [undefined, {}]) {
      const settled = settle({ ...birds(), layout }, CATALOG);
      expect(Object.keys(settled.layout ?? {}).sort()).toEqual(["convert", "data", "net", "split", "train"]);
      expect(upward(settled)).toEqual([]);
      expect(overlapping(settled)).toEqual([]);
    }
  });
  it("keeps what has a place, and puts the others near what they are joined to", () => {
    const graph = without("train", "net");
    graph.layout = { data: { x: 2000, y: 1000 }, convert: { x: 2000, y: 1200 }, split: { x: 2000, y: 1400 } };
    const settled = settle(graph, CATALOG);
    expect(settled.layout).toMatchObject(graph.layout);
    expect(upward(settled)).toEqual([]);
    expect(overlapping(settled)).toEqual([]);
    expect(Math.abs((settled.layout?.train as Place).x - 2000)).toBeLessThan(2 * NODE_WIDTH);
    expect((settled.layout?.train as Place).y - 1400).toBeLessThan(4 * NODE_HEIGHT);
  });
  it("takes a place that is none for missing", () => {
    const graph = without();
    graph.layout = { ...graph.layout, train: {} as Place };
    const settled = settle(graph, CATALOG);
    expect((settled.layout?.train as Place).y).toBeGreaterThan(200);
    expect(overlapping(settled)).toEqual([]);
  });
});
