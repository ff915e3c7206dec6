import { Chart } from "@/charts/Chart";
import type { Aligned } from "@/charts/data";
import type { Predictions } from "./shapes";

const CURVES = [
  { label: "predicted", color: 0 },
  { label: "predicted + error", color: 0, isDashed: true },
  { label: "predicted − error", color: 0, isDashed: true },
  { label: "ideal", color: 9 },
];

/** What was predicted for each true value, with its spread, and where it should be. */
export function PredictionsChart({ edges, averages, errors, label }: Predictions & { label: string }) {
  const xs = averages.map((_, index) => ((edges[index] ?? 0) + (edges[index + 1] ?? 0)) / 2);
  const data: Aligned = [xs, averages, averages.map((value, index) => value + (errors[index] ?? 0)), averages.map((value, index) => value - (errors[index] ?? 0)), xs];
  return <Chart label={label} curves={CURVES} data={data} height={240} xLabel="true value" />;
}
