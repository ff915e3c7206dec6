import { describe, expect, it } from "vitest";
import type { Timeline } from "@/api/types";
import { countRanks, ticksOf, toneOf, toPlan } from "./gantt";

const node = (number: number, result: string | null, ...codes: (number | null)[]) => ({ node: number, id: `n${number}`, machine: `m${number}`, result, ranks: codes.map((code, rank) => ({ rank: number * 2 + rank, exit_code: code, signal: null })) });
const TIMELINE: Timeline = {
  time: 200,
  phases: [
    { status: "Queued", reason: "busy", start: 100, end: 110, duration_s: 10 },
    { status: "Running", reason: null, start: 110, end: 200, duration_s: 90 },
  ],
  attempts: [
    { attempt: 1, start: 110, end: 150, result: "failed", cause: null, nodes: [node(0, "failed", 0, 1)] },
    { attempt: 2, start: 150, end: null, result: null, cause: null, nodes: [node(0, null, null, null), node(1, null, null)] },
  ],
  samples: [],
};

describe("toPlan", () => {
  const plan = toPlan(TIMELINE, 200, true);
  it("has a row for each try, node and rank", () => {
    expect(plan.rows.map((row) => row.label)).toEqual(["Phases", "Attempt 1", "Node 0", "Rank 0", "Rank 1", "Attempt 2", "Node 0", "Rank 0", "Rank 1", "Node 1", "Rank 2"]);
    expect(new Set(plan.rows.map((row) => row.key)).size).toBe(plan.rows.length);
  });
  it("lays bars on the axis", () => {
    expect(plan.rows[0]?.bars.map((bar) => [bar.left, bar.width])).toEqual([[0, 10], [10, 90]]);
    expect(plan.rows[5]?.bars[0]).toMatchObject({ left: 50, width: 50, tone: "run" });
  });
  it("says how ranks ended", () => {
    expect(plan.rows[3]).toMatchObject({ result: "done", note: "exit code 0" });
    expect(plan.rows[4]).toMatchObject({ result: "failed", note: "exit code 1" });
    expect(plan.rows[7]).toMatchObject({ result: "running" });
  });
  it("leaves ranks out, and says how many", () => expect(toPlan(TIMELINE, 200, false)).toMatchObject({ hiddenRanks: 5, rows: { length: 6 } }));
  it("has no row for the only try", () => expect(toPlan({ ...TIMELINE, attempts: TIMELINE.attempts.slice(1) }, 200, false).rows.map((row) => row.kind)).toEqual(["phases", "node", "node"]));
  it("takes a run that has not begun", () => expect(toPlan({ time: 5, phases: [], attempts: [], samples: [] }, 5, true)).toMatchObject({ rows: [], start: 5 }));
  it("never draws out of the picture", () => {
    for (const row of plan.rows) for (const bar of row.bars) expect(bar.left + bar.width).toBeLessThanOrEqual(100.001);
  });
  it("reads a signal, and skips what is no rank", () => {
    const attempts = [{ attempt: 1, start: 1, end: 2, result: "failed", cause: null, nodes: [{ node: 0, id: null, machine: null, result: "failed", ranks: [{ rank: 0, exit_code: null, signal: "SIGKILL" }, "odd"] }] }];
    expect(toPlan({ ...TIMELINE, attempts }, 200, true).rows.at(-1)).toMatchObject({ note: "SIGKILL", result: "killed" });
  });
  it("counts the ranks of the largest try", () => expect(countRanks(TIMELINE)).toBe(3));
});

describe("the axis", () => {
  it("has few round ticks", () => {
    expect(ticksOf(100).map((tick) => tick.word)).toEqual(["0", "30 s", "1 m", "1.5 m"]);
    expect(ticksOf(0.4).length).toBeLessThanOrEqual(7);
    expect(ticksOf(86_400 * 30).length).toBeLessThanOrEqual(8);
  });
  it("has tones for results", () => expect([toneOf(null), toneOf("completed"), toneOf("lost")]).toEqual(["run", "end", "stop"]));
});
