import { expect, it } from "vitest";
import { firstFile, shownFolder } from "./outputs";

it("shows what says most", () => {
  expect(shownFolder("ImageDirectory")).toBe("image");
  expect(firstFile("DataFrameDirectory", ["_meta.yaml", "_schema.json", "data.parquet"])).toBe("data.parquet");
  expect(firstFile("TransformationDirectory", ["_meta.yaml", "_transforms.json"])).toBe("_transforms.json");
  expect(firstFile("ImageDirectory", ["images.lst", "_samples.json"])).toBeNull();
  expect(firstFile("ModelDirectory", ["state_dict.pt"])).toBeNull();
});
