import { describe, expect, it } from "vitest";
import { isExpired, parseDays, passwordProblem } from "./people";

describe("parseDays", () => {
  it("takes days, or nothing for the server's own", () => {
    expect(parseDays("")).toEqual({ days: null, problem: null });
    expect(parseDays(" 30 ")).toEqual({ days: 30, problem: null });
    expect(parseDays("-1").problem).toMatch(/above 0/);
    expect(parseDays("soon").problem).toMatch(/soon/);
  });
});

describe("tokens and passwords", () => {
  it("knows an expired one", () => {
    expect(isExpired({ expires_utc: "2026-01-01T00:00:00Z" }, Date.UTC(2026, 0, 2))).toBe(true);
    expect(isExpired({ expires_utc: "2026-01-01T00:00:00Z" }, Date.UTC(2025, 0, 2))).toBe(false);
  });
  it("compares the two", () => {
    expect(passwordProblem("a", "")).toBeNull();
    expect(passwordProblem("a", "a")).toBeNull();
    expect(passwordProblem("a", "b")).toMatch(/same/);
  });
});
