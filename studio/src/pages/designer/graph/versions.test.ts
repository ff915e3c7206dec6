import { describe, expect, it } from "vitest";
import { categoryOf } from "../canvas/toFlow";
import { birds, CARDS, port } from "./fixtures";
import { cardOf, titleOf, toCatalog, type Card, type Graph } from "./model";
import { portsOf } from "./ports";
import { ownProblems } from "./problems";

const split = CARDS.find((card) => card.name === "split") as Card;
const now: Card = { ...split, version: "2" };
const before: Card = { ...split, version: "1", title: "split in three", outputs: [...split.outputs, port("third", ["ImageDirectory"])] };
const catalog = toCatalog([...CARDS.filter((card) => card.name !== "split"), now], [before]);

function graphOf(version: string | number | null): Graph {
  const graph = birds();
  return { ...graph, nodes: { ...graph.nodes, split: { ...graph.nodes.split, kind: "module", version } } };
}

describe("a node that names a version", () => {
  it("has that version's card: title, ports and a mark on the canvas", () => {
    const graph = graphOf(1);
    const node = graph.nodes.split as Graph["nodes"][string];
    expect(cardOf(node, catalog)).toBe(before);
    expect(titleOf(node, catalog)).toBe("split in three");
    expect(portsOf(graph, "split", catalog).outputs.map((each) => each.name)).toEqual(["first", "second", "third"]);
    expect(categoryOf(node, catalog)).toBe("Vision · version 1");
  });
  it.each([["2"], [2], [null], [""]])("has the default's where it is that one, or none: %j", (version) => {
    const node = graphOf(version).nodes.split as Graph["nodes"][string];
    expect(cardOf(node, catalog)).toBe(now);
    expect(categoryOf(node, catalog)).toBe("Vision");
  });
  it("is unknown where nobody has that version, and says which there is", () => {
    const graph = graphOf("7");
    expect(cardOf(graph.nodes.split, catalog)).toBeUndefined();
    expect(portsOf(graph, "split", catalog).isKnown).toBe(false);
    expect(ownProblems(graph, catalog).find((problem) => problem.node === "split")?.message).toContain("no version '7' here. The default is 2");
  });
});
