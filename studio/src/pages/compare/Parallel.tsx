import { useMemo, useRef, useState } from "react";
import type { Comparison } from "@/api/types";
import { useWidth } from "@/charts/useWidth";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { Checkbox } from "@/components/Field";
import { Popup } from "@/components/Menu";
import { useSearch } from "@/router/location";
import { readList, writeList } from "./address";
import { AxisBrush } from "./AxisBrush";
import { isWithin, readBrushes, withBrush, writeBrushes, type Range } from "./brush";
import { quantities, SECTION_WORDS, SECTIONS, type Quantity, type ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { useRunColor } from "./RunChips";
import { firstAxes, toScale, type Scale } from "./scale";

const HEIGHT = 420;
const TOP = 44;
const FOOT = 34;
const LEAST = 130; // between two axes; more than fit scroll sideways
const SIDE = 70;

/** One axis for each thing that was set or came out, one line for each run. */
export function Parallel({ comparison, runs }: { comparison: Comparison; runs: readonly ShownRun[] }) {
  const [search, change] = useSearch();
  const all = useMemo(() => quantities(comparison), [comparison]);
  const told = readList(search, "axes");
  const chosen = told.length ? told : firstAxes(all);
  const axes = chosen.map((id) => all.find((each) => each.id === id)).filter((each) => each !== undefined);
  const scales = axes.map((axis) => toScale(axis.values, axis.isNumeric));
  const brushes = readBrushes(search);
  const inside = runs.filter((run) => isWithin(run, axes, scales, brushes));
  const brush = (id: string, range: Range | null) => change({ brush: writeBrushes(withBrush(brushes, id, range)) });
  const toggle = (id: string) => change({ axes: writeList(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]) });
  return (
    <div className={styles.part} data-testid="compare-parallel">
      <div className={styles.toolbar}>
        <Popup label="Axes" icon="columns" align="left">
          <div className={styles.choices}>
            {SECTIONS.map((section) => {
              const own = all.filter((each) => each.section === section).slice(0, 200);
              return own.length === 0 ? null : (
                <fieldset key={section}>
                  <legend>{SECTION_WORDS[section]}</legend>
                  {own.map((each) => (
                    <Checkbox key={each.id} label={each.label} checked={chosen.includes(each.id)} onChange={() => toggle(each.id)} />
                  ))}
                </fieldset>
              );
            })}
          </div>
        </Popup>
        {axes.map((axis, index) => {
          const range = brushes.get(axis.id);
          return range && (
            <Button key={axis.id} icon="close" onClick={() => brush(axis.id, null)} title="Take this range away" data-testid="compare-brush">
              {axis.label}: {rangeWords(scales[index], range)}
            </Button>
          );
        })}
        <span className="soft" role="status">
          {inside.length < runs.length ? `${inside.length} of ${runs.length} runs are within.` : "Point at a line to see which run it is; drag along an axis to choose a range."}
        </span>
      </div>
      {axes.length < 2 ? (
        <EmptyState icon="compare" title="Choose at least two axes">
          <p>Under Axes, above: parameters that were set, metrics that came out of them.</p>
        </EmptyState>
      ) : (
        <Lines axes={axes} scales={scales} runs={runs} inside={new Set(inside)} ranges={axes.map((axis) => brushes.get(axis.id) ?? null)} onBrush={brush} />
      )}
    </div>
  );
}

interface LinesProps {
  axes: readonly Quantity[];
  scales: readonly Scale[];
  runs: readonly ShownRun[];
  inside: ReadonlySet<ShownRun>;
  ranges: readonly (Range | null)[];
  onBrush: (id: string, range: Range | null) => void;
}

function Lines({ axes, scales, runs, inside, ranges, onBrush }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(useWidth(box), LEAST * (axes.length - 1) + 2 * SIDE);
  const [pointed, setPointed] = useState<string | null>(null);
  const colorOf = useRunColor();
  const left = (index: number) => SIDE + (index * (width - 2 * SIDE)) / (axes.length - 1);
  const top = (at: number | null) => (at === null ? HEIGHT - 14 : HEIGHT - FOOT - at * (HEIGHT - FOOT - TOP));
  const hasNone = axes.some((axis, index) => runs.some((run) => scales[index]?.at(axis.values[run.place]) === null));
  const shown = runs.find((run) => run.id === pointed);
  return (
    <div ref={box} className={styles.wide} tabIndex={0} role="region" aria-label="Parallel coordinates">
      <svg width={width} height={HEIGHT} role="group" aria-label={`${runs.length} runs over ${axes.map((axis) => axis.label).join(", ")}. The table of differences has the same values.`}>
        {axes.map((axis, index) => (
          <g key={axis.id} transform={`translate(${left(index)} 0)`} data-axis={axis.id}>
            <text className={styles.axisName} textAnchor="middle" y={18}>
              {short(axis.label, 17)}
              <title>{axis.label}</title>
            </text>
            {scales[index]?.isLog && (
              <text className={styles.axisNote} textAnchor="middle" y={32}>
                log
              </text>
            )}
            <line className={styles.axisLine} y1={TOP} y2={HEIGHT - FOOT} />
          </g>
        ))}
        {runs.map((run) => {
          const path = axes.map((axis, index) => `${index ? "L" : "M"}${left(index).toFixed(1)} ${top(scales[index]?.at(axis.values[run.place]) ?? null).toFixed(1)}`).join("");
          return (
            <g key={run.id} data-line={run.id} className={styles.runLine} data-state={pointed === run.id ? "pointed" : pointed === null && inside.has(run) ? undefined : "other"} data-inside={inside.has(run) || undefined} onPointerEnter={() => setPointed(run.id)} onPointerLeave={() => setPointed(null)}>
              <path d={path} className={styles.reach} />
              <path d={path} stroke={colorOf(run)} strokeDasharray={run.isDashed ? "6 4" : undefined} />
              <title>{run.label}</title>
            </g>
          );
        })}
        {axes.map((axis, index) => (
          <AxisBrush key={axis.id} label={axis.label} x={left(index)} top={TOP} length={HEIGHT - FOOT - TOP} range={ranges[index] ?? null} words={(range) => rangeWords(scales[index], range)} onBrush={(range) => onBrush(axis.id, range)} />
        ))}
        {axes.map((axis, index) => (
          <g key={axis.id} transform={`translate(${left(index)} 0)`} className={styles.ticks}>
            {scales[index]?.ticks.map((tick) => (
              <text key={tick.word} x={6} y={top(tick.at) + 4}>
                {short(tick.word, 14)}
              </text>
            ))}
            {hasNone && (
              <text className={styles.axisNote} x={6} y={HEIGHT - 10}>
                none
              </text>
            )}
            {shown && (
              <text className={styles.pointedValue} textAnchor="end" x={-6} y={top(scales[index]?.at(axis.values[shown.place]) ?? null) + 4}>
                {short(String(axis.values[shown.place] ?? "none"), 12)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <p className={styles.pointed}>{shown ? shown.label : "\u00a0"}</p>
    </div>
  );
}

function rangeWords(scale: Scale | undefined, [low, high]: Range): string {
  const [from, to] = [scale?.word(low) ?? "", scale?.word(high) ?? ""];
  return from === to ? from : `${from} to ${to}`;
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
