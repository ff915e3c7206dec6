import { describe, expect, it } from "vitest";
import { phasesText, phaseTone, toParts, type Phase } from "./phases";

const phase = (status: string, seconds: number): Phase => ({ status, reason: null, start: 0, end: seconds, duration_s: seconds });

describe("toParts", () => {
  it("fills the bar, and nothing vanishes", () => {
    const parts = toParts([phase("Queued", 0.001), phase("Running", 1000)]);
    expect(parts.reduce((sum, part) => sum + part.width, 0)).toBeCloseTo(100);
    expect(parts[0]?.width).toBeGreaterThan(0.7);
    expect(parts[1]?.share).toBeCloseTo(1);
  });
  it("shares evenly before any time has passed, and takes none", () => {
    expect(toParts([phase("Queued", 0), phase("Running", 0)]).map((part) => part.width)).toEqual([50, 50]);
    expect(toParts([])).toEqual([]);
  });
});

describe("words", () => {
  it("reads the bar out", () => expect(phasesText([phase("Queued", 2), phase("Running", 124)], (status) => status)).toBe("Queued 2.0 s, Running 2 m 4 s"));
  it("has a tone for statuses that are new", () => expect([phaseTone("Running"), phaseTone("Thinking")]).toEqual(["run", "idle"]));
});
