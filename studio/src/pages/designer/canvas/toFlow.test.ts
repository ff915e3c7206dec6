import { describe, expect, it } from "vitest";
import { group, patchGroup, patchNode } from "../graph/edit";
import { birds, CATALOG } from "../graph/fixtures";
import type { Graph } from "../graph/model";
import { toEdges, toNodes, type CanvasNode, type Shown } from "./toFlow";

const shown = (graph: Graph, more: Partial<Shown> = {}): Shown => ({ graph, catalog: CATALOG, problems: new Map(), steps: null, progress: new Map(), found: new Set(), refused: null, isReadOnly: false, ...more });
const byId = (nodes: CanvasNode[]) => new Map(nodes.map((node) => [node.id, node]));

describe("toNodes", () => {
  it("gives back what has not changed", () => {
    const graph = birds();
    const first = byId(toNodes(shown(graph), new Map()));
    const second = byId(toNodes(shown(patchNode(graph, "split", { comment: "half" })), first));
    expect([...second].filter(([id, node]) => first.get(id) !== node).map(([id]) => id)).toEqual(["split"]);
  });
  it("draws an open group as a frame around its members, a closed one as a box in their place", () => {
    const open = group(birds(), ["split", "net"]);
    const nodes = byId(toNodes(shown(open), new Map()));
    expect(nodes.get("group:group")?.type).toBe("frame");
    expect(nodes.has("split")).toBe(true);
    const closed = patchGroup(open, "group", { collapsed: true });
    expect([...byId(toNodes(shown(closed), new Map())).keys()].sort()).toEqual(["convert", "data", "group:group", "train"]);
    const edges = toEdges(closed, CATALOG, null);
    expect(edges.filter((edge) => edge.source === "group:group").map((edge) => edge.targetHandle)).toEqual(["net", "training", "validation"]);
    expect(edges.find((edge) => edge.target === "group:group")?.source).toBe("convert");
  });
});

describe("toEdges", () => {
  it("draws order too, and leaves out lines from what is gone", () => {
    const graph = { ...birds(), after: [["net", "split"]] as [string, string][] };
    (graph.nodes.train as { inputs: object }).inputs = { net: { node: "gone", port: "x" } };
    expect(toEdges(graph, CATALOG, null).map((edge) => edge.id)).toEqual(["convert:input", "split:pictures", "after:net:split"]);
  });
});
