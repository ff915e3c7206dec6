import { describe, expect, it } from "vitest";
import { formatTime } from "./format";
import { chooseZone, chosenZone, isZone, knownZones } from "./zone";

describe("zone", () => {
  it("takes zones that exist", () => {
    expect(isZone("Asia/Tokyo")).toBe(true);
    expect(isZone("Mars/North")).toBe(false);
    expect(isZone("")).toBe(false);
    expect(knownZones()).toContain("UTC");
  });
  it("is what times are shown in, until it is taken back", () => {
    chooseZone("Asia/Tokyo");
    expect(formatTime("2026-11-16T20:00:00Z")).toMatch(/^2026-11-17 05:00:00/);
    chooseZone("Mars/North");
    expect(chosenZone()).toBeUndefined();
  });
});
