import { describe, expect, it } from "vitest";
import { alignSeries, axisNumber, positive, smooth } from "./data";
import { sparkPath } from "./Sparkline";

describe("alignSeries", () => {
  it("joins different steps, with gaps", () => {
    expect(alignSeries([{ xs: [0, 2], ys: [1, 3] }, { xs: [1, 2], ys: [5, 6] }])).toEqual([[0, 1, 2], [1, null, 3], [null, 5, 6]]);
  });
  it("has nothing to do for the same steps, and for none", () => {
    expect(alignSeries([{ xs: [0, 1], ys: [1, null] }, { xs: [0, 1], ys: [2, 3] }])).toEqual([[0, 1], [1, null], [2, 3]]);
    expect(alignSeries([])).toEqual([[]]);
  });
});

describe("smooth", () => {
  it("starts at the first value and keeps a constant constant", () => {
    const smoothed = smooth([4, 4, null, 4], 0.9);
    expect(smoothed[2]).toBeNull();
    for (const at of [0, 1, 3]) expect(smoothed[at]).toBeCloseTo(4);
  });
  it("changes nothing at 0", () => expect(smooth([1, 2, 9], 0)).toEqual([1, 2, 9]));
  it("lies between the extremes", () => {
    const smoothed = smooth([0, 10, 0, 10], 0.6) as number[];
    expect(Math.max(...smoothed)).toBeLessThan(10);
    expect(Math.min(...smoothed.slice(1))).toBeGreaterThan(0);
  });
});

describe("drawing", () => {
  it("leaves out what a logarithm does not have", () => expect(positive([1, 0, -2, null])).toEqual([1, null, null, null]));
  it("names steps shortly", () => expect([axisNumber(250, "number"), axisNumber(20_000, "number"), axisNumber(90, "duration")]).toEqual(["250", "20 k", "90 s"]));
  it("draws a spark within its field, over gaps", () => {
    expect(sparkPath([0, 1, 2], [0, null, 1], 72, 20)).toBe("M1.0 18.0L71.0 2.0");
    expect(sparkPath([], [], 72, 20)).toBe("");
    expect(sparkPath([1], [3], 72, 20)).toBe("M36.0 10.0h0.01");
  });
});
