/** Samples of nodes → charts: one per thing that is measured, a curve per node or card. No React. */
import { alignSeries, type Aligned, type Points } from "@/charts/data";
import type { NodeLines } from "@/api/types";

export interface UsageChart {
  key: string;
  title: string;
  curves: { label: string }[];
  data: Aligned;
}

const GB = 1e9;

/** x is seconds since `start`, as in the timeline above them. Charts without any value are left out; a machine without cards has none for cards. */
export function toCharts(given: readonly NodeLines[], start = 0): UsageChart[] {
  const samples = given.map((node) => ({ ...node, times: node.times.map((time) => (time === null ? null : time - start)) }));
  const cards = samples.flatMap((node) => node.gpus.map((gpu) => ({ label: samples.length > 1 ? `node ${node.node}, GPU ${gpu.index}` : `GPU ${gpu.index}`, times: node.times, gpu })));
  const charts = [
    chart("cpu", "CPU, % of one core", samples.map((node) => ({ label: `node ${node.node}`, ...pointsOf(node.times, node.cpu_percent, 1) }))),
    chart("memory", "Memory, GB", samples.map((node) => ({ label: `node ${node.node}`, ...pointsOf(node.times, node.memory_bytes, GB) }))),
    chart("gpu", "GPU, %", cards.map((card) => ({ label: card.label, ...pointsOf(card.times, card.gpu.util_percent, 1) }))),
    chart("gpu-memory", "GPU memory, GB", cards.map((card) => ({ label: card.label, ...pointsOf(card.times, card.gpu.memory_bytes, GB) }))),
  ];
  return charts.filter((each) => each.curves.length > 0);
}

function chart(key: string, title: string, lines: (Points & { label: string })[]): UsageChart {
  const drawn = lines.filter((line) => line.ys.some((y) => y !== null));
  return { key, title, curves: drawn.map((line) => ({ label: line.label })), data: alignSeries(drawn) };
}

function pointsOf(times: readonly (number | null)[], values: readonly (number | null)[], size: number): Points {
  const kept = times.flatMap((time, index) => (time === null ? [] : [[time, values[index] ?? null] as const]));
  return { xs: kept.map(([time]) => time), ys: kept.map(([, value]) => (value === null ? null : value / size)) };
}
