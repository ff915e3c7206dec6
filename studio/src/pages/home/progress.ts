/** How far a running run is, and which of its curves says most, from what it has logged. Pure. */
import type { TableRun } from "@/api/types";
import { byTelling } from "@/charts/telling";

export interface Progress {
  /** 0 to 1. */
  share: number;
  words: string;
}

/** Names for how many there will be (parameters), and for how many there were (metrics). */
const PLANNED: Record<string, readonly string[]> = {
  epoch: ["epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs", "total_epochs"],
  step: ["steps", "max_steps", "num_steps", "total_steps", "num_train_steps", "max_iters", "iterations"],
};
const DONE: Record<string, readonly string[]> = { epoch: ["epoch", "train/epoch"], step: ["step", "global_step", "train/global_step", "iteration", "iter"] };

/** From a metric `progress` (0 to 1, or percent), or from "epoch" logged and `--epochs` given. Null where nothing tells: no guess. */
export function progressOf(run: Pick<TableRun, "metrics" | "params">): Progress | null {
  const told = numberOf(run.metrics.progress);
  if (told !== null && told >= 0 && told <= 100) {
    const share = told > 1 ? told / 100 : told;
    return { share, words: `${Math.round(share * 100)} %` };
  }
  const params = new Map(Object.entries(run.params).map(([name, value]) => [plain(name), value]));
  for (const [noun, planned] of Object.entries(PLANNED)) {
    const total = first(planned.map((name) => numberOf(params.get(name))));
    const done = first((DONE[noun] as readonly string[]).map((name) => numberOf(run.metrics[name])));
    if (total !== null && done !== null && total > 0 && done >= 0 && done <= total) {
      return { share: done / total, words: `${noun} ${trim(done)} of ${trim(total)}` };
    }
  }
  return null;
}

/** The metric to draw. */
export function mainMetric(names: readonly string[]): string | null {
  return [...names].sort(byTelling)[0] ?? null;
}

function plain(name: string): string {
  return name.replace(/^-+/, "").replace(/-/g, "_").toLowerCase();
}

function numberOf(value: unknown): number | null {
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function first(values: readonly (number | null)[]): number | null {
  return values.find((value) => value !== null) ?? null;
}

function trim(value: number): string {
  return Number(value.toFixed(1)).toLocaleString("en-US");
}
