import { describe, expect, it } from "vitest";
import { firstAxes, firstPair, toScale } from "./scale";
import type { Quantity } from "./compared";

const quantity = (id: string, isNumeric = true, differs = true): Quantity => ({ id, label: id, section: id.split(":")[0] as Quantity["section"], differs, values: [1, 2], isNumeric });

describe("toScale", () => {
  it("lays numbers from low to high", () => {
    const scale = toScale([1, "3", 2, null], true);
    expect([1, "3", 2, null, "NaN"].map(scale.at)).toEqual([0, 1, 0.5, null, null]);
    expect(scale.ticks.map((tick) => tick.word)).toEqual(["1", "1.5", "2", "2.5", "3"]);
  });
  it("takes magnitudes where values differ by them", () => {
    const scale = toScale([0.0001, 0.01, 1], true);
    expect(scale.isLog).toBe(true);
    expect(scale.at(0.01)).toBeCloseTo(0.5);
    expect(toScale([0.0001, 1], true, false).isLog).toBe(false);
    expect(toScale([0, 1], true, true).isLog).toBe(false);
  });
  it("says what stands at a place", () => {
    expect([toScale([1, 3], true).word(0.5), toScale([0.01, 1], true, true).word(0.5), toScale(["b", "a", "c"], false).word(0.6)]).toEqual(["2", "0.1", "b"]);
  });
  it("puts one value in the middle", () => expect(toScale([5, 5], true)).toMatchObject({ ticks: [{ at: 0.5, word: "5" }] }));
  it("lays words out in order", () => {
    const scale = toScale(["b", "a10", "a9", null, "b"], false);
    expect(scale.ticks.map((tick) => tick.word)).toEqual(["a9", "a10", "b"]);
    expect([scale.at("b"), scale.at(null)]).toEqual([1, null]);
  });
  it("has not too many words", () => expect(toScale(Array.from({ length: 100 }, (_, index) => `w${index}`), false).ticks.length).toBeLessThanOrEqual(12));
});

describe("what to begin with", () => {
  const all = [quantity("params:lr"), quantity("params:net", false), quantity("params:seed", true, false), quantity("metrics:loss"), quantity("attributes:duration_s")];
  it("is what differs, then what came of it", () => expect(firstAxes(all)).toEqual(["params:lr", "params:net", "metrics:loss"]));
  it("is a parameter against a metric", () => expect(firstPair(all)).toEqual(["params:lr", "metrics:loss"]));
  it("is something where there is little", () => {
    expect(firstAxes([quantity("metrics:loss"), quantity("attributes:duration_s")])).toEqual(["metrics:loss", "attributes:duration_s"]);
    expect(firstPair([quantity("metrics:loss")])).toEqual(["metrics:loss", null]);
    expect(firstPair([])).toEqual([null, null]);
  });
});
