import { describe, expect, it } from "vitest";
import { mainMetric, progressOf } from "./progress";

const run = (metrics: Record<string, number | string>, params: Record<string, string> = {}) => ({ metrics, params });

describe("progressOf", () => {
  it("takes what the run says itself", () => expect(progressOf(run({ progress: 0.25 }))).toEqual({ share: 0.25, words: "25 %" }));
  it("takes percent", () => expect(progressOf(run({ progress: 80 }))?.share).toBe(0.8));
  it("takes epochs", () => expect(progressOf(run({ epoch: 3 }, { epochs: "10" }))).toEqual({ share: 0.3, words: "epoch 3 of 10" }));
  it("takes parameters as they are typed", () => expect(progressOf(run({ step: 500 }, { "--max-steps": "2000" }))?.words).toBe("step 500 of 2,000"));
  it("does not guess", () => expect(progressOf(run({ loss: 0.1 }, { epochs: "10" }))).toBeNull());
  it("says nothing rather than more than all", () => expect(progressOf(run({ epoch: 12 }, { epochs: "10" }))).toBeNull());
  it("does not fall over what is no number", () => expect(progressOf(run({ progress: "NaN", epoch: "NaN" }, { epochs: "many" }))).toBeNull());
});

describe("mainMetric", () => {
  it.each([
    [["lr", "train/acc", "val/loss", "train/loss"], "val/loss"],
    [["epoch", "accuracy", "speed"], "accuracy"],
    [["epoch"], "epoch"],
    [[], null],
  ])("%j → %s", (names, wanted) => expect(mainMetric(names)).toBe(wanted));
});
