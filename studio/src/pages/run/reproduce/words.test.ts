import { describe, expect, it } from "vitest";
import { sortDifferences, valueWords, verdict } from "./words";

const found = (...matters: boolean[]) => ({ possible: true, why_not: [], same: [], spec: null, differences: matters.map((each, index) => ({ what: `d${index}`, then: 1, now: 2, matters: each })) });

describe("reproduce", () => {
  it("says what to expect", () => {
    expect(verdict(found()).title).toBe("It can be run again as it was");
    expect(verdict(found(false))).toMatchObject({ tone: "good" });
    expect(verdict(found(true, false)).title).toContain("one thing that matters");
    expect(verdict(found(true, true))).toMatchObject({ tone: "warn", title: "It can be run again, but 2 things that matter differ" });
    expect(verdict({ ...found(), possible: false })).toMatchObject({ tone: "bad" });
  });
  it("puts what matters first", () => expect(sortDifferences(found(false, true, false).differences).map((each) => each.what)).toEqual(["d1", "d0", "d2"]));
  it("has words for any value", () => expect([null, "", "a", 3, ["x", 1], { a: 1 }].map(valueWords)).toEqual(["none", "none", "a", "3", "x 1", '{"a":1}']));
});
