import { describe, expect, it } from "vitest";
import { cleanColumns, columnsAsked, defaultColumns, formatColumns, moveColumn, parseColumns, topMetrics } from "./choice";

describe("columns", () => {
  it("has a small chart of the metric that most runs have", () => expect(defaultColumns(["loss", "acc"], false)).toContain("chart:loss"));
  it("leaves out the experiment in one's own", () => expect(defaultColumns([], true)).not.toContain("experiment"));
  it("keeps the name, first, and drops what it does not know", () => expect(cleanColumns(["status", "shoe", 3, "param:lr", "status"])).toEqual(["name", "status", "param:lr"]));
  it("comes back from an address as it was", () => expect(parseColumns(formatColumns(["name", "metric:a,b", "tag:50%"]))).toEqual(["name", "metric:a,b", "tag:50%"]));
  it("is nothing where the address says nothing", () => expect(parseColumns(null)).toBeNull());
});

describe("topMetrics", () => {
  it("has what says most of what most runs have", () => expect(topMetrics([{ name: "acc", runs: 10 }, { name: "loss", runs: 9 }, { name: "rare/loss", runs: 1 }])).toEqual(["loss", "acc"]));
  it("is empty where nothing is logged", () => expect(topMetrics([])).toEqual([]));
});

describe("moveColumn", () => {
  const ids = ["name", "a", "b", "c"];
  it.each([
    ["b", -1, ["name", "b", "a", "c"]],
    ["b", 1, ["name", "a", "c", "b"]],
    ["a", -1, ids],
    ["c", 1, ids],
    ["name", 1, ids],
  ])("%s by %i", (id, step, wanted) => expect(moveColumn(ids, id, step)).toEqual(wanted));
});

describe("columnsAsked", () => {
  it("asks for what is shown only", () =>
    expect(columnsAsked(["name", "metric:acc", "chart:loss", "param:lr"])).toEqual({ columns: { metrics: ["acc", "loss"], params: ["lr"], tags: [] }, sparklines: { metrics: ["loss"], points: 40 } }));
  it("asks for four curves at most", () => expect(columnsAsked(["a", "b", "c", "d", "e"].map((name) => `chart:${name}`)).sparklines?.metrics.length).toBe(4));
});
