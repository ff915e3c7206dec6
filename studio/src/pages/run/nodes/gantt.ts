/** A run's phases, tries, nodes and ranks as bars on one axis of time. No React. */
import type { Timeline } from "@/api/types";
import { formatDuration } from "@/components/format";
import { phaseTone } from "../overview/phases";

export interface Bar {
  /** In percent of the axis. */
  left: number;
  width: number;
  tone: string;
  title: string;
}

export interface Row {
  key: string;
  kind: "phases" | "attempt" | "node" | "rank";
  label: string;
  /** Beside the label: a machine, an exit code. */
  note: string;
  /** What came of it, in a word. */
  result: string;
  bars: Bar[];
}

export interface Plan {
  rows: Row[];
  /** Unix seconds. */
  start: number;
  end: number;
  ticks: { at: number; word: string }[];
  /** Ranks that are there but not among the rows. */
  hiddenRanks: number;
  leftOut: number;
}

export const FEW_RANKS = 32; // up to so many are shown without asking
const MOST_ROWS = 600;

/** `now` is where what goes on ends. */
export function toPlan(timeline: Timeline, now: number, isWithRanks: boolean): Plan {
  const starts = [...timeline.phases.map((phase) => phase.start), ...timeline.attempts.flatMap((attempt) => (attempt.start === null ? [] : [attempt.start]))];
  const start = starts.length ? Math.min(...starts) : now;
  const ends = [...timeline.phases.map((phase) => phase.end), ...timeline.attempts.map((attempt) => attempt.end ?? now)];
  const end = Math.max(start + 0.001, ...ends);
  const span = end - start;
  const bar = (from: number, to: number, tone: string, title: string): Bar => {
    const left = clamp(((from - start) / span) * 100, 0, 99.7);
    return { left, width: clamp(((to - from) / span) * 100, 0.3, 100 - left), tone, title: `${title}, ${formatDuration(to - from)}` };
  };
  const rows: Row[] = [];
  if (timeline.phases.length) {
    rows.push({ key: "phases", kind: "phases", label: "Phases", note: "", result: "", bars: timeline.phases.map((phase) => bar(phase.start, phase.end, phaseTone(phase.status), phase.reason ? `${phase.status}: ${phase.reason}` : phase.status)) });
  }
  let hiddenRanks = 0;
  for (const attempt of timeline.attempts) {
    const from = attempt.start ?? start;
    const to = attempt.end ?? now;
    if (timeline.attempts.length > 1) {
      rows.push({ key: `a${attempt.attempt}`, kind: "attempt", label: `Attempt ${attempt.attempt}`, note: attempt.cause?.summary ?? "", result: attempt.result ?? "running", bars: [bar(from, to, toneOf(attempt.result), `Attempt ${attempt.attempt}`)] });
    }
    for (const node of attempt.nodes) {
      const machine = typeof node.machine === "string" ? node.machine : "";
      rows.push({ key: `a${attempt.attempt}n${node.node}`, kind: "node", label: `Node ${node.node}`, note: machine, result: node.result ?? "running", bars: [bar(from, to, toneOf(node.result), `Node ${node.node}`)] });
      if (!isWithRanks) {
        hiddenRanks += node.ranks.length;
        continue;
      }
      for (const each of node.ranks) {
        const rank = readRank(each);
        if (rank) rows.push({ key: `a${attempt.attempt}r${rank.rank}`, kind: "rank", label: `Rank ${rank.rank}`, note: rank.note, result: rank.result, bars: [bar(from, to, rank.tone, `Rank ${rank.rank}`)] });
      }
    }
  }
  return { rows: rows.slice(0, MOST_ROWS), start, end, ticks: ticksOf(span), hiddenRanks, leftOut: Math.max(0, rows.length - MOST_ROWS) };
}

export function countRanks(timeline: Timeline): number {
  return Math.max(0, ...timeline.attempts.map((attempt) => attempt.nodes.reduce((sum, node) => sum + node.ranks.length, 0)));
}

function readRank(given: unknown): { rank: number; note: string; result: string; tone: string } | null {
  if (typeof given !== "object" || given === null || !("rank" in given) || typeof given.rank !== "number") return null;
  const code = "exit_code" in given && typeof given.exit_code === "number" ? given.exit_code : null;
  const signal = "signal" in given && typeof given.signal === "string" && given.signal ? given.signal : null;
  if (signal) return { rank: given.rank, note: signal, result: "killed", tone: "stop" };
  if (code === null) return { rank: given.rank, note: "", result: "running", tone: "run" };
  return { rank: given.rank, note: `exit code ${code}`, result: code === 0 ? "done" : "failed", tone: code === 0 ? "end" : "stop" };
}


/** The keeper's word for how a try or a node ended; none while it goes on. */
export function toneOf(result: string | null): string {
  if (result === null) return "run";
  if (result === "canceled") return "idle";
  return result === "completed" ? "end" : "stop";
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** At most six round times since the start, in percent. */
export function ticksOf(span: number): { at: number; word: string }[] {
  const step = STEPS.find((each) => span / each <= 6) ?? Math.ceil(span / 6 / 86_400) * 86_400;
  const ticks = [];
  for (let index = 0; index * step <= span && index < 8; index += 1) ticks.push({ at: ((index * step) / span) * 100, word: index === 0 ? "0" : shortly(index * step) });
  return ticks;
}

/** "90 s" is read faster on an axis as "1.5 m". */
function shortly(seconds: number): string {
  const [size, unit] = seconds < 60 ? [1, "s"] : seconds < 3600 ? [60, "m"] : seconds < 172_800 ? [3600, "h"] : [86_400, "d"];
  return `${Number((seconds / (size as number)).toFixed(1))} ${unit}`;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
