import { describe, expect, it } from "vitest";
import { pictureAt, pictureRows } from "./pictures";

const had = (images: [string, number][], files: string[] = []) => ({
  metrics: [...images.map(([name, total]) => ({ name, kind: "image", total })), { name: "loss", kind: "scalar", total: 9 }],
  files: files.map((path) => ({ path, preview: path.endsWith(".png") ? "image" : "text" })),
});

describe("pictureRows", () => {
  it("joins what runs have in common", () => {
    const rows = pictureRows([had([["mask", 2], ["own", 1]], ["outputs/plot.png", "outputs/a.txt"]), had([["mask", 5]], ["outputs/plot.png"])]);
    expect(rows.map((row) => [row.key, row.totals])).toEqual([["logged:mask", [2, 5]], ["file:outputs/plot.png", [1, 1]], ["logged:own", [1, 0]]]);
  });
  it("has none where there are none", () => expect(pictureRows([had([]), had([])])).toEqual([]));
  it("shows the last one, or the one wanted as far as there is one", () => expect([pictureAt(5, null), pictureAt(5, 2), pictureAt(2, 9)]).toEqual([4, 2, 1]));
});
