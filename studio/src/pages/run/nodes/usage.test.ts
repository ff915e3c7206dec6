import { describe, expect, it } from "vitest";
import { toCharts } from "./usage";

const lines = (node: number, gpus: { index: number; util_percent: (number | null)[]; memory_bytes: (number | null)[] }[] = []) => ({ node, times: [1, 2, null], cpu_percent: [10, 20, 30], memory_bytes: [1e9, null, 3e9], gpus });

describe("toCharts", () => {
  it("draws what was measured, a curve a node", () => {
    const charts = toCharts([lines(0), lines(1)]);
    expect(charts.map((chart) => [chart.key, chart.curves.map((curve) => curve.label)])).toEqual([
      ["cpu", ["node 0", "node 1"]],
      ["memory", ["node 0", "node 1"]],
    ]);
  });
  it("leaves out samples without a time, and counts memory in GB", () => expect(toCharts([lines(0)])[1]?.data).toEqual([[1, 2], [1, null]]));
  it("counts from the start", () => expect(toCharts([lines(0)], 1)[0]?.data[0]).toEqual([0, 1]));
  it("has cards of all nodes", () => {
    const gpus = [{ index: 0, util_percent: [50, 60, 70], memory_bytes: [null, null, null] }];
    expect(toCharts([lines(0, gpus), lines(1)]).map((chart) => chart.key)).toEqual(["cpu", "memory", "gpu"]);
    expect(toCharts([lines(0, gpus), lines(1)])[2]?.curves).toEqual([{ label: "node 0, GPU 0" }]);
  });
  it("has nothing to draw where nothing was measured", () => expect(toCharts([])).toEqual([]));
});
