import { describe, expect, it } from "vitest";
import { nextPlace, placeOf } from "./places";

describe("nextPlace", () => {
  it("goes on and back, and around at the ends", () => {
    expect([nextPlace([3, 7, 9], 3, 1), nextPlace([3, 7, 9], 9, 1), nextPlace([3, 7, 9], 7, -1), nextPlace([3, 7, 9], 3, -1)]).toEqual([7, 3, 3, 9]);
  });
  it("starts from anywhere, and nowhere", () => expect([nextPlace([3, 7], -1, 1), nextPlace([3, 7], 5, -1), nextPlace([], 0, 1)]).toEqual([3, 3, null]));
});

describe("placeOf", () => {
  it("counts from one", () => expect([placeOf([3, 7], 7), placeOf([3, 7], 5), placeOf([3], null)]).toEqual([2, null, null]));
});
