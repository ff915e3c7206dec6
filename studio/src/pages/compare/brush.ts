/** Ranges chosen on axes of parallel coordinates, as they stand in the address; which runs lie within all of them. No React. */
import { readList, writeList } from "./address";
import type { Quantity, ShownRun } from "./compared";
import type { Scale } from "./scale";

/** From 0, the low end of an axis, to 1. */
export type Range = [low: number, high: number];
export type Brushes = ReadonlyMap<string, Range>;

const LEAST = 0.01; // a click is no range
const MARK = "@";

/** `brush=params:lr@0.25..0.5`, several with commas. */
export function readBrushes(search: URLSearchParams): Brushes {
  const found = new Map<string, Range>();
  for (const text of readList(search, "brush")) {
    const at = text.lastIndexOf(MARK);
    const [low, high, ...rest] = text.slice(at + 1).split("..").map(Number);
    if (at > 0 && rest.length === 0 && low !== undefined && high !== undefined && low >= 0 && high <= 1 && low < high) found.set(text.slice(0, at), [low, high]);
  }
  return found;
}

export function writeBrushes(brushes: Brushes): string {
  return writeList([...brushes].map(([id, [low, high]]) => `${id}${MARK}${round(low)}..${round(high)}`));
}

/** The same with this range; null takes it away. */
export function withBrush(brushes: Brushes, id: string, range: Range | null): Brushes {
  const next = new Map(brushes);
  if (range) next.set(id, range);
  else next.delete(id);
  return next;
}

/** Two places of an axis, whichever was first, kept on it; null where they are too near to be a range. */
export function toRange(from: number, to: number): Range | null {
  const low = Math.max(0, Math.min(from, to));
  const high = Math.min(1, Math.max(from, to));
  return high - low < LEAST ? null : [low, high];
}

/** By keyboard: Up and Down move the high end, with Shift the low one. */
export function movedRange(range: Range | null, step: number, isLow: boolean): Range | null {
  const [low, high] = range ?? [0, 1];
  return isLow ? (toRange(Math.min(low + step, high - LEAST), high) ?? range) : (toRange(low, Math.max(high + step, low + LEAST)) ?? range);
}

/** Whether its value on every axis that has a range lies in it. What has no value does not. */
export function isWithin(run: Pick<ShownRun, "place">, axes: readonly Quantity[], scales: readonly Scale[], brushes: Brushes): boolean {
  return axes.every((axis, index) => {
    const range = brushes.get(axis.id);
    if (!range) return true;
    const at = scales[index]?.at(axis.values[run.place]) ?? null;
    // A hair wider: where a value lies is a fraction, and so is what the pointer says.
    return at !== null && at >= range[0] - 1e-3 && at <= range[1] + 1e-3;
  });
}

function round(place: number): number {
  return Number(place.toFixed(3));
}
