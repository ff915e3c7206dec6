import { describe, expect, it } from "vitest";
import { hasRanks, splitRank, toGroups, type Metric } from "./charts";

const metric = (name: string, more: Partial<Metric> = {}): Metric => ({ name, kind: "scalar", total: 10, last: 0.5, last_step: 9, last_time: 0, by_rank: false, ...more });

describe("toGroups", () => {
  it("groups by prefix, those without one and those alone first", () => {
    const groups = toGroups([metric("train/loss"), metric("lr"), metric("train/acc"), metric("val/loss")]);
    expect(groups.map((group) => [group.name, group.charts.map((chart) => chart.key)])).toEqual([["", ["lr", "val/loss"]], ["train", ["train/loss", "train/acc"]]]);
  });
  it("draws the ranks of one metric in one chart, in their order", () => {
    const [group] = toGroups([metric("loss/rank_10"), metric("loss/rank_2"), metric("loss")]);
    expect(group?.charts).toHaveLength(1);
    expect(group?.charts[0]?.lines.map((line) => line.label)).toEqual(["loss", "rank 2", "rank 10"]);
    expect(group?.charts[0]?.total).toBe(30);
  });
  it("shows single values and texts as values, pictures and tables as items", () => {
    const [group] = toGroups([metric("epochs", { total: 1, last: 3 }), metric("note", { last: "bird" }), metric("bad", { last: "NaN" }), metric("examples", { kind: "image", last: null })]);
    expect(group?.values.map((each) => each.name)).toEqual(["epochs", "note"]);
    expect(group?.charts.map((chart) => chart.key)).toEqual(["bad"]);
    expect(group?.items.map((each) => each.name)).toEqual(["examples"]);
  });
  it("finds by part of the name, whatever its capitals", () => expect(toGroups([metric("Train/Loss"), metric("acc")], " loss ").flatMap((group) => group.charts.map((chart) => chart.key))).toEqual(["Train/Loss"]));
});

describe("hasRanks", () => {
  it("needs a curve that several ranks logged", () => {
    expect(hasRanks([metric("loss"), metric("table", { kind: "table", by_rank: true })])).toBe(false);
    expect(hasRanks([metric("loss"), metric("time", { by_rank: true })])).toBe(true);
  });
});

describe("splitRank", () => {
  it.each([
    ["loss/rank_0", "loss", "rank 0"],
    ["train/loss_rank3", "train/loss", "rank 3"],
    ["rank_1", "rank_1", "rank_1"],
    ["frank", "frank", "frank"],
  ])("%s", (name, base, label) => expect(splitRank(name)).toEqual({ base, label }));
});
