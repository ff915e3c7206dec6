import { useMemo, useRef, useState } from "react";
import type { Comparison } from "@/api/types";
import { useWidth } from "@/charts/useWidth";
import { EmptyState } from "@/components/EmptyState";
import { Checkbox, Select } from "@/components/Field";
import { formatNumber, plural } from "@/components/format";
import { navigate, useSearch } from "@/router/location";
import { quantities, SECTION_WORDS, SECTIONS, toNumber, type Quantity, type ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { useRunColor } from "./RunChips";
import { firstPair, toScale } from "./scale";

const HEIGHT = 440;
const EDGE = { left: 70, right: 16, top: 12, foot: 48 };
const INSIDE = 24; // so that points at the ends are whole, and their words too

/** Any two numbers against each other, a point a run. */
export function Scatter({ comparison, runs }: { comparison: Comparison; runs: readonly ShownRun[] }) {
  const [search, change] = useSearch();
  const all = useMemo(() => quantities(comparison).filter((each) => each.isNumeric), [comparison]);
  const [firstX, firstY] = firstPair(all);
  const find = (id: string | null) => all.find((each) => each.id === id);
  const x = find(search.get("sx")) ?? find(firstX);
  const y = find(search.get("sy")) ?? find(firstY);
  const log = search.get("slog") ?? "";
  if (!x || !y) {
    return (
      <EmptyState icon="chart" title="There are not two numbers to draw">
        <p>Log metrics, or give the runs arguments that are numbers: each can be drawn against another here.</p>
      </EmptyState>
    );
  }
  const toggle = (axis: string, isOn: boolean) => change({ slog: isOn ? log + axis : log.replace(axis, "") });
  return (
    <div className={styles.part} data-testid="compare-scatter">
      <div className={styles.toolbar}>
        <Choice label="Across" all={all} value={x.id} onChange={(id) => change({ sx: id })} testId="scatter-x" />
        <Checkbox label="Log" aria-label="Log axis across" checked={log.includes("x")} onChange={(event) => toggle("x", event.target.checked)} />
        <Choice label="Up" all={all} value={y.id} onChange={(id) => change({ sy: id })} testId="scatter-y" />
        <Checkbox label="Log" aria-label="Log axis up" checked={log.includes("y")} onChange={(event) => toggle("y", event.target.checked)} />
      </div>
      <Points x={x} y={y} runs={runs} isLogX={log.includes("x")} isLogY={log.includes("y")} />
    </div>
  );
}

function Choice({ label, all, value, onChange, testId }: { label: string; all: readonly Quantity[]; value: string; onChange: (id: string) => void; testId: string }) {
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <Select value={value} onChange={(event) => onChange(event.target.value)} data-testid={testId}>
        {SECTIONS.map((section) => {
          const own = all.filter((each) => each.section === section);
          return own.length === 0 ? null : (
            <optgroup key={section} label={SECTION_WORDS[section]}>
              {own.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.label}
                </option>
              ))}
            </optgroup>
          );
        })}
      </Select>
    </label>
  );
}

function Points({ x, y, runs, isLogX, isLogY }: { x: Quantity; y: Quantity; runs: readonly ShownRun[]; isLogX: boolean; isLogY: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const colorOf = useRunColor();
  const [pointed, setPointed] = useState<string | null>(null);
  const across = useMemo(() => toScale(x.values, true, isLogX), [x.values, isLogX]);
  const up = useMemo(() => toScale(y.values, true, isLogY), [y.values, isLogY]);
  const left = (at: number) => EDGE.left + INSIDE + at * (width - EDGE.left - EDGE.right - 2 * INSIDE);
  const top = (at: number) => HEIGHT - EDGE.foot - INSIDE - at * (HEIGHT - EDGE.foot - EDGE.top - 2 * INSIDE);
  const placed = runs.flatMap((run) => {
    const [a, b] = [across.at(x.values[run.place]), up.at(y.values[run.place])];
    return a === null || b === null ? [] : [{ run, cx: left(a), cy: top(b) }];
  });
  const missing = runs.length - placed.length;
  return (
    <div ref={box} className={styles.plot}>
      <svg width={width} height={HEIGHT} role="group" aria-label={`${y.label} over ${x.label}, ${plural(placed.length, "run")}`}>
        {across.ticks.filter((_, index) => width > 500 || index % 2 === 0).map((tick) => (
          <g key={`x${tick.at}`} transform={`translate(${left(tick.at)} 0)`} className={styles.ticks}>
            <line className={styles.gridLine} y1={EDGE.top} y2={HEIGHT - EDGE.foot} />
            <text textAnchor="middle" y={HEIGHT - EDGE.foot + 18}>
              {tick.word}
            </text>
          </g>
        ))}
        {up.ticks.map((tick) => (
          <g key={`y${tick.at}`} transform={`translate(0 ${top(tick.at)})`} className={styles.ticks}>
            <line className={styles.gridLine} x1={EDGE.left} x2={width - EDGE.right} />
            <text textAnchor="end" x={EDGE.left - 8} y={4}>
              {tick.word}
            </text>
          </g>
        ))}
        <text className={styles.axisName} textAnchor="middle" x={(width + EDGE.left - EDGE.right) / 2} y={HEIGHT - 8}>
          {x.label}
        </text>
        <text className={styles.axisName} textAnchor="middle" transform={`translate(14 ${HEIGHT / 2 - 16}) rotate(-90)`}>
          {y.label}
        </text>
        {placed.map(({ run, cx, cy }) => (
          <a
            key={run.id}
            className={styles.point}
            href={`runs/${encodeURIComponent(run.id)}`}
            aria-label={`${run.label}: ${x.label} ${words(x, run)}, ${y.label} ${words(y, run)}`}
            data-point={run.id}
            onClick={(event) => {
              event.preventDefault();
              navigate(`/runs/${encodeURIComponent(run.id)}`);
            }}
            onPointerEnter={() => setPointed(run.id)}
            onPointerLeave={() => setPointed(null)}
            onFocus={() => setPointed(run.id)}
            onBlur={() => setPointed(null)}
          >
            <circle cx={cx} cy={cy} r={pointed === run.id ? 9 : 7} fill={run.isDashed ? "transparent" : colorOf(run)} stroke={colorOf(run)} strokeWidth={2} />
          </a>
        ))}
        {placed
          .filter(({ run }) => run.id === pointed)
          .map(({ run, cx, cy }) => (
            <text key={run.id} className={styles.pointName} textAnchor={cx > width * 0.6 ? "end" : "start"} x={cx > width * 0.6 ? cx - 14 : cx + 14} y={cy < 40 ? cy + 20 : cy - 10}>
              {`${run.label}: ${words(x, run)}, ${words(y, run)}`}
            </text>
          ))}
      </svg>
      {missing > 0 && <p className={styles.notes}>{`${plural(missing, "run")} without both values ${missing === 1 ? "is" : "are"} left out.`}</p>}
    </div>
  );
}

function words(quantity: Quantity, run: ShownRun): string {
  return formatNumber(toNumber(quantity.values[run.place]), 5);
}
