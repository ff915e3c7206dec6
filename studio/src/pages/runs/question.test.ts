import { describe, expect, it } from "vitest";
import { formatSort, parseSort, sortIdOf, toFilter, toQuestion } from "./question";

const nothing = { columns: { metrics: [], params: [], tags: [] }, limit: 100 };

describe("toQuestion", () => {
  it("asks for the newest where nothing is said", () => expect(toQuestion(new URLSearchParams())).toEqual(nothing));
  it("takes all that the address says", () => {
    const search = new URLSearchParams("q=res+net&status=Failed,Canceled&compute=gpu&where=param:lr:gt:0.1&children=yes&sort=-metric:val/loss");
    expect(toQuestion(search, "birds", ["name", "chart:loss"])).toEqual({
      limit: 100,
      text: "res net",
      experiments: ["birds"],
      statuses: ["Failed", "Canceled"],
      computes: ["gpu"],
      where: [{ kind: "param", key: "lr", op: ">", value: 0.1 }],
      include_children: true,
      columns: { metrics: ["loss"], params: [], tags: [] },
      sparklines: { metrics: ["loss"], points: 40 },
      sort: [{ kind: "metric", key: "val/loss", ascending: false }],
    });
  });
  it("leaves out a column that does not exist", () => expect(toQuestion(new URLSearchParams("sort=nonsense"))).toEqual(nothing));
  it("looks into the bin", () => expect(toFilter(new URLSearchParams("view=bin"))).toEqual({ deleted: true, archived: "all" }));
  it("looks into the archive", () => expect(toFilter(new URLSearchParams("view=archive"))).toEqual({ archived: "only" }));
});

describe("sort", () => {
  it.each(["-created", "duration", "param:a:b"])("%s comes back as it was", (text) => expect(formatSort(parseSort(text) as never)).toBe(text));
  it.each([["chart:loss", "metric:loss"], ["param:lr", "param:lr"], ["status", "status"], ["cause", null]])("of column %s is %s", (column, id) => expect(sortIdOf(column)).toBe(id));
});
