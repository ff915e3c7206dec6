import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatNumber } from "@/components/format";
import { useZone } from "@/components/zone";
import { colors, series as palette } from "@/theme/tokens";
import { useTheme } from "@/theme/theme";
import styles from "./Chart.module.css";
import { axisNumber, type Aligned } from "./data";
import { Legend } from "./Legend";
import { timeLabels } from "./timeAxis";
import { placeTooltip } from "./tooltip";

export interface Curve {
  label: string;
  /** Which of the ten colours; by default its place. */
  color?: number;
  isDashed?: boolean;
  /** Faint: the raw values behind a smoothed curve. Not in the legend. */
  isGhost?: boolean;
  /** In a run's or rank's own words, where the label is short. */
  title?: string;
}

interface Props {
  /** What is shown, for those who cannot see it. */
  label: string;
  curves: readonly Curve[];
  /** `[xs, ys of the first curve, …]`, all as long; `null` is a gap (charts/data.ts makes it of series). */
  data: Aligned;
  height?: number;
  x?: "number" | "time" | "duration";
  xLabel?: string;
  isLog?: boolean;
  /** Charts with the same key share the cross. */
  sync?: string;
  /** Zoomed into, or out again (null): ask for finer data, or put it into the address. */
  onZoom?: (range: [number, number] | null) => void;
  range?: [number, number] | null;
  isPoints?: boolean;
  /** Above the chart, at the right. */
  actions?: ReactNode;
  hasLegend?: boolean;
}

/** Lines over steps or time, on uPlot: a million points, a cross with values, zoom by dragging, double click to see all. */
export function Chart(props: Props) {
  const { label, curves, data, height = 220, x = "number", xLabel, isLog = false, sync, onZoom, range = null, isPoints = false, actions, hasLegend = true } = props;
  const theme = useTheme();
  const zone = useZone();
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const zoomed = useRef(onZoom);
  zoomed.current = onZoom;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  // Built anew when its form changes, not when its data grows.
  const form = JSON.stringify([curves, x, xLabel, isLog, sync, height, theme, isPoints, x === "time" ? zone : null]);
  const options = useMemo(() => {
    const color = (index: number) => palette[theme][(curves[index]?.color ?? index) % palette[theme].length] as string;
    const ink = colors[theme];
    const grid = { stroke: ink.line, width: 1 };
    const axis = { stroke: ink.soft, grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif" };
    const made: Omit<uPlot.Options, "width"> = {
      height,
      legend: { show: false },
      tzDate: zone ? (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone) : undefined, // where hours and days begin
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        // Others follow the cross, not the dragging: each would zoom by itself.
        sync: sync ? { key: sync, scales: ["x", null], filters: { pub: () => true, sub: (event) => event === "mousemove" || event === "mouseleave" } } : undefined,
        focus: { prox: 24 },
      },
      focus: { alpha: 0.35 },
      padding: x === "time" ? [null, 30, null, null] : undefined, // a time at the right end is longer than a number
      scales: { x: { time: x === "time" }, y: { distr: isLog ? 3 : 1, log: 10 } },
      axes: [
        x === "time"
          ? { ...axis, label: xLabel, labelSize: 18, size: 46, space: (_, __, low, high) => (high - low < 4 ? 92 : 60), values: (_, splits, __, ___, step) => timeLabels(splits, step, zone) } // two lines: the time, the day
          : { ...axis, label: xLabel, labelSize: 18, size: 30, values: (_, splits) => splits.map((value) => axisNumber(value, x)) },
        { ...axis, size: 56, values: (_, splits) => splits.map((value) => (value === null ? "" : formatNumber(value, 4))) },
      ],
      series: [
        {},
        ...curves.map((curve, index) => ({
          label: curve.label,
          stroke: color(index),
          width: curve.isGhost ? 1 : 1.6,
          alpha: curve.isGhost ? 0.28 : 1,
          dash: curve.isDashed ? [5, 4] : undefined,
          spanGaps: true,
          points: isPoints ? { show: true, size: 5 } : { show: (_: uPlot, __: number, from: number, to: number) => to - from < 40, size: 4 },
          ...(isPoints ? { paths: () => null } : {}),
        })),
      ],
      hooks: {
        setSelect: [
          (self) => {
            if (self.select.width < 4) return;
            const from = self.posToVal(self.select.left, "x");
            const to = self.posToVal(self.select.left + self.select.width, "x");
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            self.setScale("x", { min: from, max: to });
            zoomed.current?.([from, to]);
          },
        ],
        setCursor: [(self) => tip.current && placeTooltip(self, tip.current, curves, color, x)],
      },
    };
    return made;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [form]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot({ ...options, width: Math.max(80, element.clientWidth) }, data as uPlot.AlignedData, element);
    plot.current = made;
    const all = () => {
      made.setData(made.data, true);
      zoomed.current?.(null);
    };
    made.over.addEventListener("dblclick", all);
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(80, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
    // The data of later drawings is set below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [options]);

  const [from, to] = range ?? [null, null];
  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    made.setData(data as uPlot.AlignedData, from === null);
    const [only] = data[0].length === 1 ? data[0] : [];
    if (from !== null && to !== null) made.setScale("x", { min: from, max: to });
    // A single point stands in the middle; uPlot would draw it at the left of a hundred steps, or of a day.
    else if (only !== undefined) made.setScale("x", { min: only - 1, max: only + 1 });
  }, [data, from, to, options]);

  useEffect(() => {
    curves.forEach((curve, index) => plot.current?.setSeries(index + 1, { show: !hidden.has(curve.label) }));
  }, [hidden, curves, options]);

  const shown = curves.filter((curve) => !curve.isGhost);
  return (
    <figure className={styles.chart}>
      {(hasLegend || actions) && (
        <figcaption className={styles.caption}>
          {hasLegend && <Legend curves={curves} colors={palette[theme]} hidden={hidden} onHide={setHidden} onFocus={(index) => plot.current?.setSeries(index === null ? null : index + 1, { focus: true })} />}
          {actions}
        </figcaption>
      )}
      <div ref={box} className={styles.plot} style={{ height }} role="img" aria-label={`${label}: ${summary(shown, data, curves)}`}>
        <div ref={tip} className={styles.tip} hidden />
      </div>
    </figure>
  );
}

function summary(shown: readonly Curve[], data: Aligned, all: readonly Curve[]): string {
  const words = shown.slice(0, 5).map((curve) => {
    const ys = data[all.indexOf(curve) + 1] ?? [];
    const last = [...ys].reverse().find((value) => value !== null);
    return `${curve.label} ${last === undefined ? "without values" : `ends at ${formatNumber(last ?? null)}`}`;
  });
  return words.join(", ") + (shown.length > 5 ? ` and ${shown.length - 5} more` : "");
}
