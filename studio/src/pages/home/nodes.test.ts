import { describe, expect, it } from "vitest";
import { busyWords, isLimited } from "./nodes";

const target = { kind: "cluster", max_nodes: 4, current_nodes: 1, busy_nodes: 1, running_runs: 0, queued_runs: 0 };

describe("busyWords", () => {
  it("says how many of how many", () => expect(busyWords({ ...target, running_runs: 1, queued_runs: 2 })).toBe("1 of 4 nodes busy · 1 run · 2 waiting"));
  it("knows this machine by its runs", () => expect(busyWords({ ...target, kind: "local", running_runs: 0 })).toBe("0 runs"));
  it("does not count up to a limit that is none", () => {
    const open = { ...target, max_nodes: 100_000 };
    expect(isLimited(open)).toBe(false);
    expect(busyWords({ ...open, busy_nodes: 0, current_nodes: 0 })).toBe("idle");
    expect(busyWords({ ...open, busy_nodes: 3, current_nodes: 3, running_runs: 2 })).toBe("3 nodes busy · 2 runs");
    expect(busyWords({ ...open, busy_nodes: 1, current_nodes: 3 })).toBe("1 of 3 nodes busy");
  });
});
