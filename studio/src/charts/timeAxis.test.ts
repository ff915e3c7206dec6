import { describe, expect, it } from "vitest";
import { timeLabels } from "./timeAxis";

const at = (text: string) => Date.parse(text) / 1000;
const evening = [at("2026-11-15T22:00:00Z"), at("2026-11-15T23:00:00Z"), at("2026-11-16T00:00:00Z")];
/** Some put a narrow space before AM. */
const plain = (labels: string[]) => labels.map((label) => label.replace(/\u202f/g, " "));

describe("timeLabels", () => {
  it("is in the zone, and says the day where it is new", () => {
    expect(timeLabels(evening, 3600, "UTC", "en-GB")).toEqual(["22:00\n15 Nov", "23:00", "00:00\n16 Nov"]);
    expect(timeLabels(evening, 3600, "Asia/Kolkata", "en-GB")).toEqual(["03:30\n16 Nov", "04:30", "05:30"]);
  });
  it("has twelve hours where people have them", () => expect(plain(timeLabels(evening, 3600, "UTC", "en-US"))).toEqual(["10:00 PM\nNov 15", "11:00 PM", "12:00 AM\nNov 16"]));
  it("says seconds and parts of them where it needs them", () => {
    expect(timeLabels([at("2026-11-15T22:00:05Z")], 5, "UTC", "en-GB")).toEqual(["22:00:05\n15 Nov"]);
    expect(timeLabels([at("2026-11-15T22:00:05Z") + 0.25], 0.25, "UTC", "en-GB")).toEqual(["22:00:05.250\n15 Nov"]);
  });
  it("says days, then months, and the year where it is new", () => {
    expect(timeLabels([at("2026-12-31T00:00:00Z"), at("2027-01-01T00:00:00Z")], 86_400, "UTC", "en-GB")).toEqual(["31 Dec\n2026", "1 Jan\n2027"]);
    expect(timeLabels([at("2026-11-01T00:00:00Z"), at("2026-12-01T00:00:00Z")], 30 * 86_400, "UTC", "en-GB")).toEqual(["Nov\n2026", "Dec"]);
  });
  it("takes the reader's own zone where none is chosen", () => expect(timeLabels(evening, 3600, undefined, "en-GB")).toHaveLength(3));
});
