import { describe, expect, it } from "vitest";
import { spread, toCurves, type Series } from "./curves";

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
  it("draws nothing of nothing", () => expect(toCurves(lines, [null, null], plain)).toEqual({ curves: [], data: [[]], holes: 0, left: 0, ranksLeftOut: 0 }));
});

describe("spread", () => {
  const rank = (number: number | null, there: number): Series => ({ ...series("loss", [0], [1]), rank: number, ranks: there });
  const loss = { name: "loss", label: "loss" };
  it("makes a line of each rank", () => {
    const found = spread([loss], [[rank(0, 3), rank(7, 3), rank(null, 3)]]);
    expect(found.lines.map((line) => line.label)).toEqual(["rank 0", "rank 7", "no rank"]);
    expect(toCurves(found.lines, found.series, plain).curves).toHaveLength(3);
  });
  it("leaves a line as it is that one rank logged, or that was not asked for by rank", () => {
    expect(spread([loss], [[rank(0, 1)]]).lines).toEqual([loss]);
    expect(spread(lines, [[series("loss/rank_0", [0], [1])], []]).lines).toEqual([lines[0]]);
  });
  it("says which of several lines a rank is of", () => expect(spread([loss, { name: "acc", label: "acc" }], [[rank(0, 2)], []]).lines[0]?.label).toBe("loss, rank 0"));
  it("counts the ranks that are not drawn", () => expect(toCurves([loss, loss], [rank(0, 100), rank(1, 100)], plain).ranksLeftOut).toBe(98));
});
