import { describe, expect, it } from "vitest";
import type { BriefRun, Comparison } from "@/api/types";
import { quantities, rowLabel, toNumber, toShown } from "./compared";

const brief = (id: string, display_name: string, number: number, experiment = "e") => ({ id, display_name, number, experiment, status: "Completed", created_utc: "2026-01-01T00:00:00Z", started_utc: null }) as BriefRun;

describe("toShown", () => {
  it("tells runs of one name apart", () => {
    expect(toShown([brief("a", "net", 1), brief("b", "net", 2), brief("c", "other", 3), brief("d", "", 4)]).map((run) => run.label)).toEqual(["net #1", "net #2", "other", "d"]);
    expect(toShown([brief("a", "net", 1, "x"), brief("b", "net", 1, "y")]).map((run) => run.label)).toEqual(["net #1 (x)", "net #1 (y)"]);
  });
  it("dashes the second ten", () => {
    const runs = toShown(Array.from({ length: 12 }, (_, index) => brief(`r${index}`, `n${index}`, index)));
    expect([runs[9], runs[10]].map((run) => [run?.color, run?.isDashed])).toEqual([[9, false], [0, true]]);
  });
});

describe("quantities", () => {
  const comparison: Comparison = {
    runs: [],
    params: [{ name: "lr", values: ["0.1", "1e-2", null], differs: true }, { name: "net", values: ["a", "b", "a"], differs: true }],
    metrics: [{ name: "loss", values: [0.5, "NaN", 1], differs: true }],
    tags: [{ name: "empty", values: ["", null, ""], differs: false }],
    attributes: [{ name: "created_utc", values: ["x", "y", "z"], differs: true }, { name: "duration_s", values: [1, 2, 3], differs: true }],
    more: {},
  };
  it("knows what is a number", () => expect(quantities(comparison).map((each) => [each.id, each.isNumeric])).toEqual([["params:lr", true], ["params:net", false], ["metrics:loss", true], ["attributes:duration_s", true]]));
  it("reads numbers as they are written", () => expect(["1e-3", 2, "", null, "NaN", true, "x"].map(toNumber)).toEqual([0.001, 2, null, null, null, null, null]));
  it("has words for what runs are", () => expect([rowLabel("attributes", "duration_s"), rowLabel("params", "duration_s")]).toEqual(["duration", "duration_s"]));
});
