import { expect, it } from "vitest";
import { birds, CARDS } from "./fixtures";
import { toCatalog } from "./model";
import { canServe, firstFile, modelName, shownFolder, trainingRun } from "./outputs";

it("shows what says most", () => {
  expect(shownFolder("ImageDirectory")).toBe("image");
  expect(firstFile("DataFrameDirectory", ["_meta.yaml", "_schema.json", "data.parquet"])).toBe("data.parquet");
  expect(firstFile("TransformationDirectory", ["_meta.yaml", "_transforms.json"])).toBe("_transforms.json");
  expect(firstFile("ImageDirectory", ["images.lst", "_samples.json"])).toBeNull();
  expect(firstFile("ModelDirectory", ["state_dict.pt"])).toBeNull();
});

it("finds the run that trained", () => {
  const catalog = toCatalog(CARDS.map((card) => (card.name === "train" ? { ...card, category: "Model Training" } : card)));
  const done = { run_id: "new", status: "Completed" };
  expect(trainingRun(birds(), { split: done, train: { ...done, reused_from: "old" } }, catalog)).toBe("old");
  expect(trainingRun(birds(), { split: done, train: { run_id: "x", status: "Failed" } }, catalog)).toBeNull();
  expect(modelName("birds of 2026 (copy)")).toBe("birds-of-2026");
});

it("says what can be put behind an address", () => {
  const scoring = { ...birds(), nodes: { score: { kind: "module", module: "score_image_model" } } };
  expect([canServe(scoring, true), canServe(scoring, false)]).toEqual([true, false]); // a draft only once it was made to score
  expect(canServe({ ...scoring, nodes: {} }, true)).toBe(false);
  expect(canServe({ ...scoring, inference: { kind: "real-time" } }, false)).toBe(true);
  expect(canServe({ ...scoring, inference: { kind: "batch" } }, true)).toBe(false);
});
