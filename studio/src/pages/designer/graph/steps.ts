/** The steps of a pipeline's run: how far it is, which failed first. Pure. */

export interface StepOutput {
  path?: string | null;
  type?: string | null;
  [more: string]: unknown;
}

export interface Step {
  run_id: string | null;
  status: string;
  reason?: string | null;
  reused_from?: string | null;
  /** Why it was reused, or why not. */
  reuse?: string | null;
  started?: string | null;
  ended?: string | null;
  cause?: { summary?: string; kind?: string; [more: string]: unknown } | null;
  outputs?: Record<string, StepOutput>;
  [more: string]: unknown;
}

export type Steps = Readonly<Record<string, Step>>;

export interface Counts {
  total: number;
  completed: number;
  reused: number;
  running: number;
  failed: number;
  waiting: number;
}

const WAITING = ["NotStarted", "Queued", "Starting", "Preparing", "Provisioning"];

export function countSteps(steps: Steps): Counts {
  const all = Object.values(steps);
  const of = (test: (step: Step) => boolean) => all.filter(test).length;
  return {
    total: all.length,
    completed: of((step) => step.status === "Completed"),
    reused: of((step) => Boolean(step.reused_from)),
    running: of((step) => !WAITING.includes(step.status) && !["Completed", "Failed", "Canceled"].includes(step.status)),
    failed: of((step) => step.status === "Failed"),
    waiting: of((step) => WAITING.includes(step.status)),
  };
}

/** "6 of 9 modules done, 2 reused, 1 running". */
export function countWords(counts: Counts): string {
  const parts = [`${counts.completed} of ${counts.total} modules done`];
  if (counts.reused) parts.push(`${counts.reused} reused`);
  if (counts.running) parts.push(`${counts.running} running`);
  if (counts.failed) parts.push(`${counts.failed} failed`);
  return parts.join(", ");
}

/** The one that failed first: others often fail because of it. */
export function firstFailing(steps: Steps): string | null {
  const failed = Object.entries(steps).filter(([, step]) => step.status === "Failed");
  failed.sort(([, a], [, b]) => (a.ended ?? "9").localeCompare(b.ended ?? "9"));
  return failed[0]?.[0] ?? null;
}
