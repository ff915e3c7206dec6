import { describe, expect, it } from "vitest";
import { dotsOf, isCarried, transformOf } from "./carry";

const wheel = { type: "wheel", buttons: 0 };

describe("isCarried", () => {
  it("moves the picture alone where there are many nodes", () => expect(isCarried({ numNodes: 300, event: wheel, isBusy: false })).toBe(true));
  it.each([
    ["few nodes", { numNodes: 12, event: wheel, isBusy: false }],
    ["the page moves it", { numNodes: 300, event: null, isBusy: false }],
    ["a line is being drawn", { numNodes: 300, event: wheel, isBusy: true }],
    ["a node is dragged meanwhile", { numNodes: 300, event: { type: "wheel", buttons: 1 }, isBusy: false }],
  ])("tells everybody: %s", (_, moved) => expect(isCarried(moved)).toBe(false));
  it("takes a hand that drags the canvas for one", () => expect(isCarried({ numNodes: 300, event: { type: "mousemove", buttons: 1 }, isBusy: false })).toBe(true));
});

describe("dotsOf", () => {
  it("goes with the canvas", () => expect(dotsOf([30, -10, 1])).toMatchObject({ gap: 24, left: 18, top: 2 }));
  it("has fewer from farther away, and in the end none", () => {
    for (const zoom of [0.1, 0.16, 0.3, 0.5, 1, 2]) {
      const { gap, left, top } = dotsOf([123, -456, zoom]);
      expect(gap).toBeGreaterThanOrEqual(12);
      expect([left, top].every((each) => each >= 0 && each < gap)).toBe(true);
    }
    expect(dotsOf([0, 0, 0.4]).radius).toBeGreaterThan(0);
    expect(dotsOf([0, 0, 0.16]).radius).toBe(0);
  });
});

it("writes a view as xyflow does", () => expect(transformOf([1, -2.5, 0.5])).toBe("translate(1px,-2.5px) scale(0.5)"));
