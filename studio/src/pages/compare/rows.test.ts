import { describe, expect, it } from "vitest";
import type { Comparison } from "@/api/types";
import { toRows } from "./rows";

const COMPARISON: Comparison = {
  runs: [],
  params: [{ name: "lr", values: ["0.1", "0.2", "0.1"], differs: true }, { name: "seed", values: ["1", "1", "1"], differs: false }],
  metrics: [{ name: "loss", values: [0.123456789, "NaN", null], differs: true }],
  tags: [],
  attributes: [{ name: "duration_s", values: [90, 90, 3], differs: true }],
  more: {},
};

describe("toRows", () => {
  it("shows what differs, sections in order", () => expect(toRows(COMPARISON, true, "").map((row) => row.label)).toEqual(["lr", "loss", "duration"]));
  it("shows all", () => expect(toRows(COMPARISON, false, "")).toHaveLength(4));
  it("finds by name", () => expect(toRows(COMPARISON, false, "SE").map((row) => row.label)).toEqual(["seed"]));
  it("marks what is other than in the first run", () => expect(toRows(COMPARISON, true, "lr")[0]?.cells.map((cell) => cell.isOther)).toEqual([false, true, false]));
  it("writes values as people read them", () => {
    expect(toRows(COMPARISON, true, "loss")[0]?.cells.map((cell) => cell.text)).toEqual(["0.123457", "NaN", "–"]);
    expect(toRows(COMPARISON, true, "duration")[0]?.cells.map((cell) => cell.text)).toEqual(["1 m 30 s", "1 m 30 s", "3.0 s"]);
  });
});
