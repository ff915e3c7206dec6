import { describe, expect, it } from "vitest";
import { MOST_PIXELS, rowsInSight, scrollFor, wrappedSight, wrappedTop } from "./virtual";

describe("rowsInSight", () => {
  it("draws what is in sight and a little more", () => {
    const sight = rowsInSight(1000, 20, 2000, 400);
    expect(sight.first).toBeLessThanOrEqual(100);
    expect(sight.end).toBeGreaterThanOrEqual(120);
    expect(sight.end - sight.first).toBeLessThan(60);
    expect(sight.offset).toBe(sight.first * 20);
  });
  it("draws nothing of an empty list, and all of a short one", () => {
    expect(rowsInSight(0, 20, 0, 400)).toMatchObject({ first: 0, end: 0, height: 0 });
    expect(rowsInSight(5, 20, 0, 400)).toMatchObject({ first: 0, end: 5, height: 100 });
  });
  it("reaches the first and the last of a million rows that browsers could not hold", () => {
    const count = 2_000_000;
    const view = 500;
    expect(rowsInSight(count, 18, 0, view)).toMatchObject({ first: 0, height: MOST_PIXELS });
    const end = rowsInSight(count, 18, MOST_PIXELS - view, view);
    expect(end.end).toBe(count);
    // The last row ends where the box ends.
    expect(end.offset + (end.end - end.first) * 18).toBeCloseTo(MOST_PIXELS, 0);
  });
  it("keeps rows where they are in sight, wherever one scrolls", () => {
    for (const top of [0, 1234, 4_000_000, 7_999_000]) {
      const sight = rowsInSight(1_000_000, 18, top, 500);
      expect(sight.offset).toBeLessThanOrEqual(top);
      expect(sight.offset + (sight.end - sight.first) * 18).toBeGreaterThanOrEqual(Math.min(top + 500, MOST_PIXELS));
    }
  });
});

describe("scrollFor", () => {
  it("stays where the row is in sight", () => expect(scrollFor(5, 100, 20, 0, 400)).toBeNull());
  it.each([[999_999], [500_000], [0]])("brings row %i of a million into sight", (row) => {
    const top = scrollFor(row, 1_000_000, 18, 4_000_000, 500) ?? 4_000_000;
    const sight = rowsInSight(1_000_000, 18, top, 500);
    expect(sight.first).toBeLessThanOrEqual(row);
    expect(sight.end).toBeGreaterThan(row);
  });
});

describe("rows of any height", () => {
  const view = { viewHeight: 360, height: 1000 * 18 };
  it("go from row to row, then through the last ones", () => {
    expect(wrappedSight({ ...view, scrollTop: 0 }, 1000, 18)).toEqual({ first: 0, end: 20, past: 0 });
    expect(wrappedSight({ ...view, scrollTop: 18 * 500 }, 1000, 18)).toEqual({ first: 500, end: 520, past: 0 });
    expect(wrappedSight({ ...view, scrollTop: 18 * 980 + 180 }, 1000, 18)).toEqual({ first: 980, end: 1000, past: 0.5 });
    expect(wrappedSight({ ...view, scrollTop: 18 * 1000 }, 1000, 18).past).toBe(1);
  });
  it("can all be gone to", () => {
    for (const row of [0, 3, 500, 979, 985, 999]) {
      const { first, end } = wrappedSight({ ...view, scrollTop: wrappedTop(row, view, 1000, 18) }, 1000, 18);
      expect([first <= row, row < end]).toEqual([true, true]);
    }
  });
});
