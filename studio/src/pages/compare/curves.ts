/** One metric of several runs → what a chart draws. No React. */
import type { Series } from "@/api/types";
import { toCurves, type Drawn } from "../run/metrics/curves";
import type { ShownRun } from "./compared";

export interface CurveOptions {
  smooth: number;
  isLog: boolean;
  /** Each run's own start is 0. */
  isRelative: boolean;
}

export function overlay(runs: readonly ShownRun[], series: readonly Series[], options: CurveOptions): Drawn {
  const found = runs.map((run) => ({ run, line: series.find((each) => each.run === run.id) })).filter((each) => each.line && each.line.xs.length > 0);
  const moved = found.map(({ run, line }) => {
    const given = line as Series;
    return options.isRelative ? { ...given, xs: given.xs.map((x) => x - run.start) } : given;
  });
  const drawn = toCurves(found.map(({ run }) => ({ name: run.id, label: run.label })), moved, { smooth: options.smooth, isLog: options.isLog, start: 0 });
  const byLabel = new Map(found.map(({ run }) => [run.label, run]));
  // A run has its colour everywhere on the page, whichever others are shown.
  return { ...drawn, curves: drawn.curves.map((curve) => ({ ...curve, color: byLabel.get(curve.label)?.color, isDashed: byLabel.get(curve.label)?.isDashed || undefined })) };
}
