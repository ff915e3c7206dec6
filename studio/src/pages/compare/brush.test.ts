import { describe, expect, it } from "vitest";
import { isWithin, movedRange, readBrushes, toRange, withBrush, writeBrushes } from "./brush";
import type { Quantity } from "./compared";
import { toScale } from "./scale";

const axis = (id: string, values: unknown[]): Quantity => ({ id, label: id, section: "params", differs: true, values, isNumeric: typeof values[0] === "number" });

describe("brushes in the address", () => {
  it("reads what it wrote", () => {
    const brushes = withBrush(withBrush(new Map(), "params:lr", [0.25, 0.5]), "metrics:val/acc, top 5", [0, 0.3333333]);
    const search = new URLSearchParams({ brush: writeBrushes(brushes) });
    expect([...readBrushes(new URLSearchParams(search.toString()))]).toEqual([["params:lr", [0.25, 0.5]], ["metrics:val/acc, top 5", [0, 0.333]]]);
    expect(withBrush(brushes, "params:lr", null).has("params:lr")).toBe(false);
  });
  it.each(["lr", "lr@", "lr@0.5", "lr@0.5..0.2", "lr@-1..1", "lr@0..2", "lr@a..b", "@0..1", "lr@0..0.5..1"])("takes no notice of %s", (text) => expect(readBrushes(new URLSearchParams({ brush: text })).size).toBe(0));
});

describe("toRange", () => {
  it("takes either direction and stays on the axis", () => expect(toRange(1.4, 0.3)).toEqual([0.3, 1]));
  it("takes a click for none", () => expect(toRange(0.5, 0.505)).toBeNull());
});

describe("movedRange", () => {
  it("begins with all, and moves one end", () => {
    expect(movedRange(null, -0.25, false)).toEqual([0, 0.75]);
    expect(movedRange([0, 0.75], 0.25, true)).toEqual([0.25, 0.75]);
  });
  it("never becomes nothing", () => expect(movedRange([0.5, 0.52], -0.5, false)?.[0]).toBe(0.5));
});

describe("isWithin", () => {
  const axes = [axis("lr", [0, 5, 10, null]), axis("net", ["a", "b", "c", "a"])];
  const scales = axes.map((each) => toScale(each.values, each.isNumeric));
  const inside = (brushes: Map<string, [number, number]>) => [0, 1, 2, 3].filter((place) => isWithin({ place }, axes, scales, brushes));
  it("needs all of them to hold", () => {
    expect(inside(new Map())).toEqual([0, 1, 2, 3]);
    expect(inside(new Map([["lr", [0.4, 1]]]))).toEqual([1, 2]);
    expect(inside(new Map([["lr", [0.4, 1]], ["net", [0.9, 1]]]))).toEqual([2]);
  });
  it("leaves out what has no value there", () => expect(inside(new Map([["lr", [0, 1]]]))).toEqual([0, 1, 2]));
});
