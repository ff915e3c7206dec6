import { describe, expect, it } from "vitest";
import { distributionWords, policyWords, progressWords, ranked, shares, toParallel, type Trial, type Tuning } from "./trials";

function trial(number: number, fields: Partial<Trial> = {}): Trial {
  return { number, run_id: `HD_${number}`, parameters: { "--lr": number / 10, batch: 16 }, status: "Completed", reason: "", stopped: "", resumed_from: "", intervals: 1, best: null, best_at: null, last: null, rank: null, duration_s: 1, ...fields };
}

function tuning(trials: Trial[], fields: Partial<Tuning> = {}): Tuning {
  return { run_id: "HD", status: "Running", reason: "", metric: "accuracy", goal: "maximize", sampler: "random", policy: "bandit", policy_options: { slack_factor: 0.1 }, space: { "--lr": ["uniform", [0, 1]], batch: ["choice", [[16, 32]]] }, max_total_runs: 10, max_concurrent_runs: 2, max_duration_minutes: 60, resume_from: [], trials, best: null, importances: {}, ...fields };
}

describe("ranked", () => {
  it("has the best first and those without a value last", () => {
    expect(ranked([trial(0), trial(1, { rank: 2 }), trial(2, { rank: 1 }), trial(3)]).map((each) => each.number)).toEqual([2, 1, 0, 3]);
  });
});

describe("words", () => {
  it("says how far it is", () => {
    expect(progressWords(tuning([trial(0), trial(1, { status: "Running" }), trial(2, { status: "Canceled", stopped: "Bandit" })]))).toBe("2 of 10 ended, 1 under way, 1 stopped early");
  });
  it("writes a distribution as one types it", () => {
    expect(distributionWords(["uniform", [0.1, 0.9]])).toBe("uniform(0.1, 0.9)");
    expect(distributionWords(["choice", [[16, [1, 2]]]])).toBe("choice(16, [1,2])");
    expect(distributionWords(["choice", [[1, 2, 3, 4, 5, 6, 7, 8, 9]]])).toBe("choice(1, 2, 3, 4, 5, 6, 7, 8, …)");
  });
  it("names the policy with its options", () => {
    expect(policyWords(tuning([]))).toBe("bandit, slack_factor 0.1");
    expect(policyWords(tuning([], { policy: "none", policy_options: {} }))).toMatch(/^none/);
  });
});

describe("shares", () => {
  it("has what mattered most first, without dashes", () => {
    expect(shares(tuning([], { importances: { batch: 0.1, "--lr": 0.7 } }))).toEqual([{ name: "lr", share: 0.7 }, { name: "batch", share: 0.1 }]);
  });
});

describe("toParallel", () => {
  it("has an axis for each parameter and one for the metric, and lines for those that have a value", () => {
    const { comparison, runs } = toParallel(tuning([trial(0, { best: 0.5, rank: 2, stopped: "why" }), trial(1), trial(2, { best: 0.9, rank: 1 })]));
    expect(comparison.params.map((row) => row.name)).toEqual(["lr", "batch"]);
    expect(comparison.metrics[0]?.values).toEqual([0.9, 0.5]);
    expect(runs.map((run) => [run.id, run.isDashed, run.color])).toEqual([["HD_0", true, 0], ["HD_2", false, 1]]);
  });
});
