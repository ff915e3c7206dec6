import { describe, expect, it } from "vitest";
import type { Series } from "@/api/types";
import type { ShownRun } from "./compared";
import { overlay } from "./curves";

const run = (id: string, place: number, start: number): ShownRun => ({ id, label: `run ${id}`, status: "Completed", experiment: "e", color: place % 10, isDashed: place >= 10, start, place });
const series = (id: string, xs: number[], ys: (number | null)[]): Series => ({ run: id, name: "loss", kind: "scalar", x: "time", total: xs.length, in_range: xs.length, sampled: false, xs, ys, holes: 0, low: 0, high: 1 });

describe("overlay", () => {
  const runs = [run("a", 0, 100), run("b", 1, 200), run("c", 12, 0)];
  const found = [series("c", [1], [5]), series("a", [101, 102], [1, 2])];
  it("draws those that have values, each in its own colour", () => {
    const { curves, data } = overlay(runs, found, { smooth: 0, isLog: false, isRelative: false });
    expect(curves.map((curve) => [curve.label, curve.color, curve.isDashed])).toEqual([["run a", 0, undefined], ["run c", 2, true]]);
    expect(data[0]).toEqual([1, 101, 102]);
  });
  it("starts each at its own beginning", () => expect(overlay(runs, found, { smooth: 0, isLog: false, isRelative: true }).data).toEqual([[1, 2], [1, 2], [5, null]]));
  it("leaves out what a log axis has not", () => expect(overlay(runs, [series("a", [1], [-1])], { smooth: 0, isLog: true, isRelative: false })).toMatchObject({ left: 1 }));
});
