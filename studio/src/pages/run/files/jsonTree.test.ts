import { describe, expect, it } from "vitest";
import { jsonRows } from "./jsonTree";

describe("jsonRows", () => {
  const value = { model: { layers: [1, 2], name: "net" }, lr: 0.1 };
  it("opens what is small and near the root", () => {
    expect(jsonRows(value, new Set()).map((row) => [row.depth, row.name, row.isOpen, row.said])).toEqual([
      [0, null, true, "2 keys"],
      [1, "model", true, "2 keys"],
      [2, "layers", false, "2 items"],
      [2, "name", false, null],
      [1, "lr", false, null],
    ]);
  });
  it("opens and closes what the reader toggled", () => {
    const names = (...toggled: string[]) => jsonRows(value, new Set(toggled)).map((row) => row.path);
    expect(names("/model")).toEqual(["", "/model", "/lr"]);
    expect(names("/model/layers")).toContain("/model/layers/1");
  });
  it("says what it leaves out", () => {
    const rows = jsonRows(Array.from({ length: 1200 }, (_, index) => index), new Set());
    expect(rows).toHaveLength(202);
    expect(rows[201]?.said).toBe("… 1,000 more");
  });
  it("takes a plain value, and what is empty", () => {
    expect(jsonRows(3, new Set())).toHaveLength(1);
    expect(jsonRows({}, new Set())[0]).toMatchObject({ isBranch: false });
  });
  it("keeps paths apart when keys hold slashes", () => {
    const paths = jsonRows({ "a/b": 1, a: { b: 2 } }, new Set()).map((row) => row.path);
    expect(new Set(paths).size).toBe(paths.length);
  });
});
