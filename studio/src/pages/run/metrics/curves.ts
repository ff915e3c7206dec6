/** Series → what a chart draws: ranks as curves, smoothed with the raw values faint behind, without what a log axis has not. No React. */
import type { Answer } from "@/api/client";
import type { Curve } from "@/charts/Chart";
import { alignSeries, positive, smooth, type Aligned } from "@/charts/data";
import type { Line } from "./charts";

export type Series = Answer<"get_series">["series"][number];

export interface Drawn {
  curves: Curve[];
  data: Aligned;
  /** Values that are not finite, or that a log axis leaves out. */
  holes: number;
  left: number;
  /** Ranks that logged it, beyond those that are drawn. */
  ranksLeftOut: number;
}

/** The lines of a chart with the series that came for each of them: a line of several ranks becomes one for each. */
export function spread(lines: readonly Line[], found: readonly (readonly Series[])[]): { lines: Line[]; series: Series[] } {
  const spreadLines: Line[] = [];
  const series: Series[] = [];
  lines.forEach((line, index) => {
    for (const each of found[index] ?? []) {
      const isApart = (each.ranks ?? 0) > 1;
      const rank = typeof each.rank === "number" ? `rank ${each.rank}` : "no rank";
      spreadLines.push(isApart ? { name: line.name, label: lines.length > 1 ? `${line.label}, ${rank}` : rank } : line);
      series.push(each);
    }
  });
  return { lines: spreadLines, series };
}

/** `start` is taken off x: seconds since the run began. */
export function toCurves(lines: readonly Line[], series: readonly (Series | null)[], options: { smooth: number; isLog: boolean; start: number }): Drawn {
  const curves: Curve[] = [];
  const points: { xs: number[]; ys: (number | null)[] }[] = [];
  let holes = 0;
  let left = 0;
  lines.forEach((line, color) => {
    const found = series[color];
    if (!found) return;
    holes += found.holes;
    const xs = options.start ? found.xs.map((x) => x - options.start) : found.xs;
    const shown = (ys: readonly (number | null)[]) => (options.isLog ? positive(ys) : [...ys]);
    if (options.isLog) left += found.ys.filter((y) => y !== null && y <= 0).length;
    const base = { label: line.label, title: line.name, color };
    if (options.smooth > 0) {
      curves.push({ ...base, isGhost: true });
      points.push({ xs, ys: shown(found.ys) });
    }
    curves.push(base);
    points.push({ xs, ys: shown(smooth(found.ys, options.smooth)) });
  });
  return { curves, data: alignSeries(points), holes, left, ranksLeftOut: leftOut(series) };
}

function leftOut(series: readonly (Series | null)[]): number {
  const drawn = new Map<string, [shown: number, there: number]>();
  for (const each of series) if (each?.ranks) drawn.set(each.name, [(drawn.get(each.name)?.[0] ?? 0) + 1, each.ranks]);
  return [...drawn.values()].reduce((sum, [shown, there]) => sum + there - shown, 0);
}
