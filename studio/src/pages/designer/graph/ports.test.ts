import { describe, expect, it } from "vitest";
import { birds, CATALOG } from "./fixtures";
import { fits, portsOf, possibleSources, reaches, whyRefused } from "./ports";

const wire = (source: string, sourcePort: string, target: string, targetPort: string) => ({ source, sourcePort, target, targetPort });

describe("fits", () => {
  it.each([
    [["ImageDirectory"], ["ImageDirectory"], true],
    [["ImageDirectory"], ["ModelDirectory"], false],
    [["AnyDirectory", "AnyFile"], ["DataFrameDirectory"], true],
    [["ImageDirectory"], ["AnyDirectory", "ZipFile"], true],
    [["ZipFile"], ["ImageDirectory"], false],
    [[], ["ImageDirectory"], true],
  ])("%j into %j: %s", (output, input, expected) => {
    expect(fits(output, input)).toBe(expected);
  });
});

describe("whyRefused", () => {
  it("lets a good line through", () => {
    expect(whyRefused(birds(), CATALOG, wire("convert", "pictures", "train", "training"))).toBeNull();
  });
  it("says what is given, what is taken, and where that comes from", () => {
    expect(whyRefused(birds(), CATALOG, wire("split", "first", "train", "net"))).toBe("'first' of split gives ImageDirectory; 'net' of train takes UntrainedModelDirectory. That comes from densenet.");
  });
  it("refuses circles, itself, and ports that are not there", () => {
    expect(whyRefused(birds(), CATALOG, wire("split", "first", "convert", "input"))).toContain("circle");
    expect(whyRefused(birds(), CATALOG, wire("split", "first", "split", "pictures"))).toContain("itself");
    expect(whyRefused(birds(), CATALOG, wire("split", "third", "train", "training"))).toContain("no output 'third'");
    expect(whyRefused(birds(), CATALOG, wire("gone", "x", "train", "training"))).toContain("no longer there");
  });
});

describe("portsOf", () => {
  it("takes those of an unknown module from the graph", () => {
    const graph = birds();
    graph.nodes.split = { kind: "module", module: "lost", inputs: graph.nodes.split?.inputs };
    const ports = portsOf(graph, "split", CATALOG);
    expect(ports.isKnown).toBe(false);
    expect(ports.inputs.map((port) => port.name)).toEqual(["pictures"]);
    expect(ports.outputs.map((port) => port.name)).toEqual(["first", "second"]);
  });
  it("keeps an input that the card does not know", () => {
    const graph = birds();
    graph.nodes.net = { kind: "module", module: "densenet", inputs: { weights: { node: "data", port: "data" } } };
    expect(portsOf(graph, "net", CATALOG).inputs.map((port) => port.name)).toEqual(["weights"]);
  });
});

it("reaches along data and order", () => {
  expect(reaches(birds(), "data", "train")).toBe(true);
  expect(reaches(birds(), "train", "data")).toBe(false);
  expect(reaches({ ...birds(), after: [["train", "net"]] }, "train", "net")).toBe(true);
});

it("lists what could go into an input", () => {
  expect(possibleSources(birds(), CATALOG, "train", "net").map((each) => each.node)).toEqual(["data", "net"]);
});
