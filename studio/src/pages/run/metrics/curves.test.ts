import { describe, expect, it } from "vitest";
import { toCurves, type Series } from "./curves";

const series = (name: string, xs: number[], ys: (number | null)[], holes = 0): Series => ({ run: "r", name, kind: "scalar", x: "step", total: xs.length, in_range: xs.length, sampled: false, xs, ys, holes, low: null, high: null });
const lines = [{ name: "loss/rank_0", label: "rank 0" }, { name: "loss/rank_1", label: "rank 1" }];
const plain = { smooth: 0, isLog: false, start: 0 };

describe("toCurves", () => {
  it("draws one curve for each rank that has values, in its own colour", () => {
    const drawn = toCurves(lines, [null, series("loss/rank_1", [0, 1], [3, 4])], plain);
    expect(drawn.curves).toEqual([{ label: "rank 1", title: "loss/rank_1", color: 1 }]);
    expect(drawn.data).toEqual([[0, 1], [3, 4]]);
  });
  it("puts the raw values behind a smoothed curve", () => {
    const drawn = toCurves(lines.slice(0, 1), [series("loss/rank_0", [0, 1, 2], [0, 10, 0])], { ...plain, smooth: 0.9 });
    expect(drawn.curves.map((curve) => [curve.label, Boolean(curve.isGhost)])).toEqual([["rank 0", true], ["rank 0", false]]);
    expect(drawn.data[1]).toEqual([0, 10, 0]);
    expect(drawn.data[2]?.[1]).toBeLessThan(10);
  });
  it("counts what it cannot draw", () => {
    const drawn = toCurves(lines.slice(0, 1), [series("loss/rank_0", [0, 1, 2], [1, -1, null], 1)], { ...plain, isLog: true });
    expect([drawn.holes, drawn.left, drawn.data[1]]).toEqual([1, 1, [1, null, null]]);
  });
  it("counts time from the start", () => expect(toCurves(lines.slice(0, 1), [series("loss/rank_0", [105, 110], [1, 2])], { ...plain, start: 100 }).data[0]).toEqual([5, 10]));
  it("draws nothing of nothing", () => expect(toCurves(lines, [null, null], plain)).toEqual({ curves: [], data: [[]], holes: 0, left: 0 }));
});
