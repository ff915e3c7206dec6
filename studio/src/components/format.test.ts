import { describe, expect, it } from "vitest";
import { formatAgo, formatBytes, formatDay, formatDuration, formatLimit, formatNumber, formatTime, plural } from "./format";

describe("formatNumber", () => {
  it.each([
    [0.123456789, "0.12346"], [1234567, "1,234,567"], [-3, "−3"], [1.5e-7, "1.500e−7"], [123456789.5, "1.235e8"], [0, "0"],
    [NaN, "NaN"], ["NaN", "NaN"], ["-Infinity", "−∞"], [Infinity, "∞"], [null, "–"], ["adam", "adam"],
  ] as const)("%s → %s", (given, shown) => expect(formatNumber(given)).toBe(shown));
});

describe("formatBytes", () => {
  it.each([[0, "0 B"], [999, "999 B"], [1000, "1.0 kB"], [999_999, "1.0 MB"], [123_456_789, "123 MB"], [5.5e12, "5.5 TB"], [null, "–"]] as const)("%s → %s", (given, shown) => expect(formatBytes(given)).toBe(shown));
});

it.each([[1800, "30 m"], [2_592_000, "30 d"], [5400, "1 h 30 m"], [90, "1 m 30 s"]])("formatLimit: %s → %s", (given, shown) => expect(formatLimit(given)).toBe(shown));

describe("formatDuration", () => {
  it.each([[0.05, "50 ms"], [3.21, "3.2 s"], [59.9, "1 m 0 s"], [61, "1 m 1 s"], [3725, "1 h 2 m"], [90_000, "1 d 1 h"], [-5, "0 ms"], [null, "–"]] as const)("%s → %s", (given, shown) => expect(formatDuration(given)).toBe(shown));
});

describe("times", () => {
  const moment = "2026-11-15T23:30:00.123456Z";
  it("are shown in the reader's zone, with its name", () => {
    expect(formatTime(moment, "UTC")).toBe("2026-11-15 23:30:00 UTC");
    expect(formatTime(moment, "Asia/Tokyo")).toBe("2026-11-16 08:30:00 GMT+9");
    expect(formatTime(1763249400, "America/New_York")).toBe("2025-11-15 18:30:00 GMT-5");
  });
  it("know which day it is there", () => {
    const now = new Date("2026-12-01T00:00:00Z");
    expect(formatDay(moment, "UTC", now)).toBe("15 Nov");
    expect(formatDay(moment, "Asia/Tokyo", now)).toBe("16 Nov");
    expect(formatDay("2025-01-02T00:00:00Z", "UTC", now)).toBe("2 Jan 2025");
  });
  it("are told from now", () => {
    const now = new Date("2026-11-16T00:00:00Z");
    expect(formatAgo("2026-11-15T23:59:58Z", now)).toBe("just now");
    expect(formatAgo(moment, now)).toBe("29 m ago");
    expect(formatAgo("2026-11-16T02:00:00Z", now)).toBe("in 2 h");
  });
});

describe("plural", () => {
  it("counts", () => expect([plural(1, "run"), plural(0, "run"), plural(12_000, "run")]).toEqual(["1 run", "0 runs", "12,000 runs"]));
});
