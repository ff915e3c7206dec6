import { describe, expect, it } from "vitest";
import { birds, CATALOG } from "./fixtures";
import { progressOfStep, valuesOf } from "./progress";

const row = (name: string, total: number) => ({ name, kind: "row", total, last: null });

describe("progressOfStep", () => {
  it("counts rows of a loss as epochs", () => {
    expect(progressOfStep([row("Train loss", 2)], { epochs: 5 })).toEqual({ share: 0.4, words: "epoch 2 of 5" });
  });
  it("takes what the run says itself first", () => {
    expect(progressOfStep([row("Train loss", 2), { name: "progress", kind: "scalar", total: 1, last: 0.5 }], { epochs: 5 })?.share).toBe(0.5);
  });
  it("does not guess", () => {
    expect(progressOfStep([row("Train loss", 0)], { epochs: 5 })).toBeNull();
    expect(progressOfStep([row("Train loss", 3)], {})).toBeNull();
  });
});

it("puts values in", () => {
  const graph = birds();
  graph.parameters = { rounds: { type: "integer", default: 4 } };
  graph.nodes.train = { ...graph.nodes.train, kind: "module", module: "train", parameters: { epochs: { pipeline_parameter: "rounds" } } };
  expect(valuesOf(graph, "train", CATALOG, { rounds: 7 })).toEqual({ epochs: 7, mode: null });
  expect(valuesOf(graph, "split", CATALOG, {})).toEqual({ fraction: 0.9 });
});
