import { describe, expect, it } from "vitest";
import type { Lineage } from "@/api/types";
import { descriptionOf, lineageSteps, nameProblem, onnxCheck, registrable, stageLook } from "./models";

describe("stageLook", () => {
  it("shows none where there is none", () => {
    expect(stageLook(null)).toBeNull();
    expect(stageLook("None")).toBeNull();
    expect(stageLook("Production")?.tone).toBe("good");
    expect(stageLook("Canary")?.word).toBe("Canary");
  });
});

describe("descriptionOf", () => {
  const latest = (description: string) => ({ description });
  it("says what the newest version says, where the name itself says nothing", () => expect(descriptionOf({ description: "", latest: latest("tells crows from rooks") })).toBe("tells crows from rooks"));
  it("says both, and the same only once", () => {
    expect(descriptionOf({ description: "birds", latest: latest("of the east") })).toBe("birds · of the east");
    expect(descriptionOf({ description: "birds", latest: latest("birds") })).toBe("birds");
    expect(descriptionOf({ description: "birds", latest: null })).toBe("birds");
  });
});

describe("onnxCheck", () => {
  it("reads what the export has found", () => {
    expect(onnxCheck({ other: "1" })).toBeNull();
    const told = { "onnx_check.largest_absolute_difference": "1e-6", "onnx_check.tolerance": "0.0001", "onnx_check.top1_agreement": "1.0" };
    expect(onnxCheck(told)?.agrees).toBe(true);
    expect(onnxCheck({ ...told, "onnx_check.top1_agreement": "0.9" })?.agrees).toBe(false);
    expect(onnxCheck(told)?.facts).toContainEqual(["largest absolute difference", "1e-6"]);
    expect(onnxCheck({ "onnx_check.pictures": "8" })?.agrees).toBeNull();
  });
});

describe("registrable", () => {
  it("offers weights first, then other outputs, then folders; logs only where there is nothing else", () => {
    expect(registrable(["logs/a.txt", "outputs/notes.txt", "outputs/net/model.pt"])).toEqual(["outputs/net/model.pt", "outputs/notes.txt", "outputs", "outputs/net"]);
    expect(registrable(["logs/a.txt"])).toEqual(["logs/a.txt", "logs"]);
    expect(registrable([])).toEqual([]);
  });
});

describe("nameProblem", () => {
  it("takes what the keeper takes", () => {
    expect(nameProblem("pytorch-birds_2")).toBeNull();
    expect(nameProblem("")).toMatch(/Give/);
    expect(nameProblem("a b")).toMatch(/Letters/);
  });
});

describe("lineageSteps", () => {
  it("goes from data over code, environment and run to the model", () => {
    const lineage = {
      model: { name: "birds", version: 2, framework: "PyTorch", framework_version: "2.1" },
      run: { id: "r1", display_name: "", experiment: "e", status: "Completed" },
      experiment: "e",
      snapshot_id: "abcdef0123456789",
      git: {},
      environment: "torch env",
      data: [{ direction: "input", kind: "dataset", name: "pictures", digest: "0123456789abcdef", context: null }, { direction: "output", kind: "x", name: "y", digest: "", context: null }],
      siblings: [],
    } as unknown as Lineage;
    const steps = lineageSteps(lineage);
    expect(steps.map((step) => step.kind)).toEqual(["Data", "Code", "Environment", "Run", "Model"]);
    expect(steps[2]?.to).toBe("/environments/torch%20env");
    expect(steps[3]?.title).toBe("r1");
    expect(steps[4]?.about).toBe("PyTorch 2.1");
  });
  it("of an uploaded one there is only the model", () => {
    const lineage = { model: { name: "m", version: 1, framework: null }, run: null, snapshot_id: null, git: {}, environment: null, data: [], siblings: [] } as unknown as Lineage;
    expect(lineageSteps(lineage).map((step) => step.kind)).toEqual(["Model"]);
  });
});
