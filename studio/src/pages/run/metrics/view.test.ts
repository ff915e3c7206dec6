import { describe, expect, it } from "vitest";
import { askedRange, formatZoom, parseView } from "./view";

const view = (text: string) => parseView(new URLSearchParams(text));

describe("parseView", () => {
  it("has defaults", () => expect(view("")).toEqual({ x: "step", smooth: 0, isLog: false, isByRank: false, wanted: "", zoom: null, chart: null, closed: new Set() }));
  it("reads what it wrote", () => {
    const zoom: [number, number] = [1_700_000_000.5, 1_700_000_100.5];
    expect(view(`zoom=${formatZoom(zoom)}`).zoom).toEqual(zoom);
    expect(view("x=relative&smooth=0.6&scale=log&closed=a,b").closed).toEqual(new Set(["a", "b"]));
  });
  it.each(["zoom=5", "zoom=3..1", "zoom=a..b", "zoom=..4", "zoom=1..2..3"])("takes no notice of %s", (text) => expect(view(text).zoom).toBeNull());
  it("keeps smoothing within bounds", () => expect([view("smooth=7").smooth, view("smooth=-1").smooth, view("smooth=x").smooth]).toEqual([0.99, 0, 0]));
});

describe("zoom", () => {
  it("is written with as many digits as it needs", () => {
    expect(formatZoom([10.123456, 5000.987654])).toBe("10..5001");
    expect(formatZoom([0.001234, 0.001239])).toBe("0.001234..0.001239");
    expect(formatZoom(null)).toBeNull();
  });
  it("asks for a little more than is seen", () => {
    expect(askedRange([0, 100], 1000)).toEqual({ from: 995, to: 1105 });
    expect(askedRange(null, 5)).toEqual({ from: null, to: null });
  });
});
