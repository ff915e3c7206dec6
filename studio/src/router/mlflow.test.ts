import { describe, expect, it } from "vitest";
import { fromMlflow } from "./mlflow";

describe("fromMlflow", () => {
  it.each([
    ["#/experiments/3/runs/8f2", { to: "/runs/8f2" }],
    ["#/experiments/3/runs/8f2/artifacts", { to: "/runs/8f2?tab=outputs" }],
    ["#/experiments/3/runs/8f2/model-metrics", { to: "/runs/8f2?tab=metrics" }],
    ["#/experiments/3?searchFilter=", { experiment: "3" }],
    ["#/experiments", { to: "/experiments" }],
    ["#/models/crows%20and%20rooks/versions/2", { to: "/models/crows%20and%20rooks?version=2" }],
    ["#/models/birds", { to: "/models/birds" }],
    ["#/models", { to: "/models" }],
    ['#/compare-runs?runs=["a","b"]&experiments=["0"]', { to: "/compare?runs=a,b" }],
    ["#/compare-runs?runs=nonsense", { to: "/runs" }],
    ["#/prompts", { to: "/" }],
    ["#/", { to: "/" }],
  ])("%s", (hash, expected) => expect(fromMlflow(hash)).toEqual(expected));
  it.each(["", "#main", "#"])("takes no notice of '%s'", (hash) => expect(fromMlflow(hash)).toBeNull());
});
