import { describe, expect, it } from "vitest";
import { extendTo, toggleRow } from "./selecting";

const keys = ["a", "b", "c", "d"];
const sorted = (set: Set<string>) => [...set].sort().join("");

describe("toggleRow", () => {
  it("turns one on", () => expect(sorted(toggleRow(keys, new Set(["a"]), 2, null))).toBe("ac"));
  it("turns one off", () => expect(sorted(toggleRow(keys, new Set(["a", "c"]), 2, null))).toBe("a"));
  it("turns a range on, in either direction", () => {
    expect(sorted(toggleRow(keys, new Set(["a"]), 2, 0))).toBe("abc");
    expect(sorted(toggleRow(keys, new Set(["d"]), 1, 3))).toBe("bcd");
  });
  it("turns a range off", () => expect(sorted(toggleRow(keys, new Set(keys), 3, 1))).toBe("a"));
  it("is the same where there is no such row", () => expect(sorted(toggleRow(keys, new Set(["a"]), 9, null))).toBe("a"));
});

describe("extendTo", () => {
  it("adds what lies between", () => expect(sorted(extendTo(keys, new Set(["d"]), 1, 0))).toBe("abd"));
});
