/** What log_confusion_matrix, log_accuracy_table, log_residuals and log_predictions have stored, read with care: scripts write it by hand. No React. */

export interface Matrix {
  labels: string[];
  rows: number[][];
}

export interface Accuracy {
  labels: string[];
  /** Per class, per threshold: [TP, FP, TN, FN]. */
  tables: number[][][];
  thresholds: number[];
}

export interface Residuals {
  edges: number[];
  counts: number[];
}

export interface Predictions {
  edges: number[];
  averages: number[];
  errors: number[];
  counts: number[];
}

export interface Point {
  x: number;
  y: number;
}

export function readMatrix(item: unknown): Matrix | null {
  const data = dataOf(item);
  const rows = grid(data?.matrix);
  if (!rows || rows.some((row) => row.length !== rows.length)) return null;
  return { rows, labels: names(data?.class_labels, rows.length) };
}

export function readAccuracy(item: unknown): Accuracy | null {
  const data = dataOf(item);
  const given = data?.probability_tables;
  if (!Array.isArray(given)) return null;
  const tables = given.map(grid);
  if (tables.length === 0 || tables.some((table) => !table || table.some((row) => row.length !== 4))) return null;
  return { tables: tables as number[][][], thresholds: numbers(data?.probability_thresholds) ?? [], labels: names(data?.class_labels, tables.length) };
}

export function readResiduals(item: unknown): Residuals | null {
  const data = dataOf(item);
  const edges = numbers(data?.bin_edges);
  const counts = numbers(data?.bin_counts);
  return edges && counts && edges.length === counts.length + 1 && counts.length > 0 ? { edges, counts } : null;
}

export function readPredictions(item: unknown): Predictions | null {
  const data = dataOf(item);
  const edges = numbers(data?.bin_edges);
  const averages = numbers(data?.bin_averages);
  if (!edges || !averages || averages.length === 0 || edges.length !== averages.length + 1) return null;
  return { edges, averages, errors: numbers(data?.bin_errors) ?? averages.map(() => 0), counts: numbers(data?.bin_counts) ?? [] };
}

/** False positive rate against true positive rate, from the left. */
export function rocPoints(table: readonly number[][]): Point[] {
  return sorted(table.map(([tp = 0, fp = 0, tn = 0, fn = 0]) => ({ x: ratio(fp, fp + tn), y: ratio(tp, tp + fn) })));
}

/** Recall against precision. Nothing found at all counts as precise. */
export function precisionPoints(table: readonly number[][]): Point[] {
  return sorted(table.map(([tp = 0, fp = 0, , fn = 0]) => ({ x: ratio(tp, tp + fn), y: tp + fp === 0 ? 1 : tp / (tp + fp) })));
}

/** The area below points that are sorted by x. */
export function area(points: readonly Point[]): number {
  let sum = 0;
  for (let at = 1; at < points.length; at += 1) {
    const [a, b] = [points[at - 1] as Point, points[at] as Point];
    sum += ((b.x - a.x) * (a.y + b.y)) / 2;
  }
  return sum;
}

/** Of each true class, how much went where; rows sum up to 1. */
export function normalised(rows: readonly number[][]): number[][] {
  return rows.map((row) => {
    const sum = row.reduce((a, b) => a + b, 0);
    return row.map((value) => (sum ? value / sum : 0));
  });
}

/** The share on the diagonal. */
export function accuracyOf(rows: readonly number[][]): number {
  const all = rows.flat().reduce((a, b) => a + b, 0);
  return all ? rows.reduce((sum, row, index) => sum + (row[index] ?? 0), 0) / all : 0;
}

function dataOf(item: unknown): Record<string, unknown> | null {
  if (typeof item === "string") {
    try {
      return dataOf(JSON.parse(item));
    } catch {
      return null;
    }
  }
  if (typeof item !== "object" || item === null) return null;
  const data = (item as { data?: unknown }).data;
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : (item as Record<string, unknown>);
}

function numbers(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((each) => typeof each === "number") ? (value as number[]) : null;
}

function grid(value: unknown): number[][] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const rows = value.map(numbers);
  return rows.every((row) => row !== null) ? (rows as number[][]) : null;
}

function names(value: unknown, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (Array.isArray(value) && value[index] !== undefined ? String(value[index]) : String(index)));
}

function ratio(part: number, whole: number): number {
  return whole ? part / whole : 0;
}

function sorted(points: Point[]): Point[] {
  return points.sort((a, b) => a.x - b.x || a.y - b.y);
}
