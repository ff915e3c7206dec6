import { describe, expect, it } from "vitest";
import { accuracyOf, area, normalised, precisionPoints, readAccuracy, readMatrix, readPredictions, readResiduals, rocPoints } from "./shapes";

describe("confusion matrix", () => {
  const matrix = { schema_type: "confusion_matrix", schema_version: "1.0.0", data: { class_labels: ["cat", "dog"], matrix: [[8, 2], [1, 9]] } };
  it("is read as a dict or as its text", () => {
    expect(readMatrix(matrix)).toEqual({ labels: ["cat", "dog"], rows: [[8, 2], [1, 9]] });
    expect(readMatrix(JSON.stringify(matrix))).toEqual(readMatrix(matrix));
  });
  it("has numbers where there are no labels", () => expect(readMatrix({ data: { matrix: [[1]] } })?.labels).toEqual(["0"]));
  it.each([[null], ["no json"], [{ data: { matrix: [[1, 2]] } }], [{ data: { matrix: [["a"]] } }], [{ data: { matrix: [] } }]])("is not read from %j", (item) => expect(readMatrix(item)).toBeNull());
  it("has shares and an accuracy", () => {
    expect(normalised([[8, 2], [0, 0]])).toEqual([[0.8, 0.2], [0, 0]]);
    expect(accuracyOf([[8, 2], [1, 9]])).toBe(0.85);
    expect(accuracyOf([[0]])).toBe(0);
  });
});

describe("accuracy table", () => {
  // A classifier that is always right: thresholds 0 (all positive), 0.5, 1 (none).
  const table = [[5, 5, 0, 0], [5, 0, 5, 0], [0, 0, 5, 5]];
  it("makes a curve with the area 1 of a perfect classifier", () => {
    expect(rocPoints(table)).toEqual([{ x: 0, y: 0 }, { x: 0, y: 1 }, { x: 1, y: 1 }]);
    expect(area(rocPoints(table))).toBe(1);
    expect(precisionPoints(table)[0]).toEqual({ x: 0, y: 1 });
  });
  it("is refused when rows are not four numbers", () => {
    expect(readAccuracy({ data: { probability_tables: [table], class_labels: ["a"] } })?.labels).toEqual(["a"]);
    expect(readAccuracy({ data: { probability_tables: [[[1, 2, 3]]] } })).toBeNull();
    expect(readAccuracy({ data: {} })).toBeNull();
  });
});

describe("bins", () => {
  it("have one edge more than counts", () => {
    expect(readResiduals({ data: { bin_edges: [0, 1, 2], bin_counts: [3, 4] } })).toEqual({ edges: [0, 1, 2], counts: [3, 4] });
    expect(readResiduals({ data: { bin_edges: [0, 1], bin_counts: [3, 4] } })).toBeNull();
    expect(readPredictions({ data: { bin_edges: [0, 1], bin_averages: [0.5] } })).toEqual({ edges: [0, 1], averages: [0.5], errors: [0], counts: [] });
    expect(readPredictions({ data: { bin_averages: [] } })).toBeNull();
  });
});
