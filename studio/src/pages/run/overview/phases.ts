/** The phases of a run as parts of one bar: how wide each is, and which are too short to be seen. No React. */
import { formatDuration } from "@/components/format";

export interface Phase {
  status: string;
  reason: string | null;
  start: number;
  end: number;
  duration_s: number;
}

export interface Part extends Phase {
  /** Of the whole, in percent; every part has at least a sliver. */
  width: number;
  share: number;
}

const SLIVER = 0.8;

export function toParts(phases: readonly Phase[]): Part[] {
  const total = phases.reduce((sum, phase) => sum + phase.duration_s, 0);
  if (total <= 0) return phases.map((phase) => ({ ...phase, share: 1 / phases.length, width: 100 / phases.length }));
  const widths = phases.map((phase) => Math.max(SLIVER, (phase.duration_s / total) * 100));
  const sum = widths.reduce((a, b) => a + b, 0);
  return phases.map((phase, index) => ({ ...phase, share: phase.duration_s / total, width: ((widths[index] as number) / sum) * 100 }));
}

/** "Preparing 3 s, Queued 1 s, Running 2 m 4 s", for those who cannot see the bar. */
export function phasesText(phases: readonly Phase[], word: (status: string) => string): string {
  return phases.map((phase) => `${word(phase.status)} ${formatDuration(phase.duration_s)}`).join(", ");
}

const TONES: Record<string, string> = {
  NotStarted: "idle",
  Starting: "idle",
  Preparing: "prepare",
  Queued: "wait",
  Provisioning: "wait",
  Running: "run",
  Finalizing: "end",
  CancelRequested: "stop",
  NotResponding: "stop",
};

export function phaseTone(status: string): string {
  return TONES[status] ?? "idle";
}
