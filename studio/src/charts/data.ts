/** Series → what a chart draws: joined on one x axis, smoothed, numbers for the axis. No React, no uPlot. */
import { formatNumber } from "@/components/format";

export type Values = (number | null)[];
export type Aligned = [xs: number[], ...ys: Values[]];

export interface Points {
  xs: readonly number[];
  ys: readonly (number | null)[];
}

/** Joins series on all their x values, sorted; `null` where one has none. */
export function alignSeries(series: readonly Points[]): Aligned {
  const first = series[0];
  if (!first) return [[]];
  if (series.every((each) => each.xs === first.xs || sameValues(each.xs, first.xs))) {
    return [[...first.xs], ...series.map((each) => [...each.ys])];
  }
  const xs = [...new Set(series.flatMap((each) => [...each.xs]))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, index) => [x, index]));
  const ys = series.map((each) => {
    const values: Values = new Array<number | null>(xs.length).fill(null);
    each.xs.forEach((x, index) => {
      values[place.get(x) as number] = each.ys[index] ?? null;
    });
    return values;
  });
  return [xs, ...ys];
}

/** Exponential smoothing, corrected at the start as TensorBoard does: weight 0 changes nothing, 0.99 smooths the most. Gaps stay. */
export function smooth(values: readonly (number | null)[], weight: number): Values {
  if (weight <= 0) return [...values];
  let mean = 0;
  let count = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    count += 1;
    mean = mean * weight + value * (1 - weight);
    return mean / (1 - weight ** count);
  });
}

/** On a logarithmic axis there is nothing at or below zero. */
export function positive(values: readonly (number | null)[]): Values {
  return values.map((value) => (value !== null && value > 0 ? value : null));
}

export function axisNumber(value: number, x: "number" | "time" | "duration"): string {
  if (x === "duration") {
    if (value < 120) return `${formatNumber(value, 3)} s`;
    return value < 7200 ? `${formatNumber(value / 60, 3)} m` : `${formatNumber(value / 3600, 3)} h`;
  }
  const size = Math.abs(value);
  if (size >= 1e6) return `${formatNumber(value / 1e6, 4)} M`;
  return size >= 1e4 ? `${formatNumber(value / 1e3, 4)} k` : formatNumber(value, 4);
}

function sameValues(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
