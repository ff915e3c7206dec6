import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type RefObject } from "react";
import { call } from "@/api/client";
import type { Comparison, Series } from "@/api/types";
import { Chart } from "@/charts/Chart";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { Checkbox, SearchInput } from "@/components/Field";
import { formatNumber, plural } from "@/components/format";
import { useSearch } from "@/router/location";
import { Smoothing, XSelect, ZoomChip } from "../run/metrics/Toolbar";
import { askedRange, formatZoom, parseView, type View } from "../run/metrics/view";
import type { ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { overlay } from "./curves";
import { Swatch } from "./RunChips";

const POINTS = 800;
const FIRST = 60;

/** Each metric in a chart of its own, with the curves of all runs over each other. */
export function Curves({ comparison, runs }: { comparison: Comparison; runs: readonly ShownRun[] }) {
  const [search, change] = useSearch();
  const view = useMemo(() => parseView(search), [search]);
  const [most, setMost] = useState(FIRST);
  const find = view.wanted.trim().toLowerCase();
  const names = useMemo(() => comparison.metrics.map((row) => row.name).filter((name) => !find || name.toLowerCase().includes(find)), [comparison.metrics, find]);
  if (comparison.metrics.length === 0) {
    return (
      <EmptyState icon="chart" title="None of these runs has logged a number">
        <p>
          <code>run.log(&quot;loss&quot;, loss)</code> in the script draws a curve here. What was set differently is under Differences.
        </p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.part} data-testid="compare-curves">
      <div className={styles.toolbar}>
        <SearchInput label="Find metrics" className={styles.find} defaultValue={view.wanted} onChange={(event) => change({ q: event.target.value })} />
        <XSelect view={view} change={change} />
        <Smoothing view={view} change={change} />
        <Checkbox label="Log axis" checked={view.isLog} onChange={(event) => change({ scale: event.target.checked ? "log" : null })} />
        {view.zoom && <ZoomChip view={view} change={change} />}
      </div>
      {names.length === 0 && (
        <EmptyState icon="search" title="No metric has such a name">
          <Button onClick={() => change({ q: null })}>Show all</Button>
        </EmptyState>
      )}
      <div className={styles.grid}>
        {names.slice(0, most).map((name) => (
          <Panel key={name} name={name} all={comparison.runs.map((run) => run.id)} runs={runs} view={view} onZoom={(zoom) => change({ zoom: formatZoom(zoom) })} />
        ))}
      </div>
      {names.length > most && <Button onClick={() => setMost(most + FIRST)}>Show more of {plural(names.length, "metric")}</Button>}
    </div>
  );
}

interface PanelProps {
  name: string;
  all: readonly string[];
  runs: readonly ShownRun[];
  view: View;
  onZoom: (zoom: [number, number] | null) => void;
}

function Panel({ name, all, runs, view, onZoom }: PanelProps) {
  const box = useRef<HTMLElement>(null);
  const isSeen = useIsSeen(box);
  const x = view.x === "step" ? "step" : "time";
  // Since each run's own start: one range of times would not fit them all, so what is here is enlarged.
  const range = view.x === "relative" ? { from: null, to: null } : askedRange(view.zoom, 0);
  const asked = useQuery({
    queryKey: ["compare", all, "series", name, x, range],
    queryFn: ({ signal }) => call("compare_series", { body: { runs: [...all], names: [name], points: POINTS, x, ...range }, signal }),
    enabled: isSeen,
    placeholderData: (before) => (before?.series.every((each) => each.x === x) ? before : undefined),
  });
  const drawn = useMemo(() => asked.data && overlay(runs, asked.data.series, { smooth: view.smooth, isLog: view.isLog, isRelative: view.x === "relative" }), [asked.data, runs, view.smooth, view.isLog, view.x]);
  const isSingle = view.zoom === null && drawn !== undefined && drawn.curves.length > 0 && asked.data?.series.every((each) => each.xs.length <= 1);
  const notes = [drawn?.holes ? `${plural(drawn.holes, "value")} not finite` : "", drawn?.left ? `${plural(drawn.left, "value")} at or below 0 left out` : "", asked.data?.series.some((each) => each.sampled) ? "drawn as extremes" : ""].filter(Boolean);
  return (
    <section ref={box} className={styles.panel} data-testid="compare-chart" data-chart={name} aria-label={name}>
      <h2 title={name}>{name}</h2>
      {isSingle && asked.data && <Singles runs={runs} series={asked.data.series} />}
      {drawn && !isSingle && drawn.curves.length > 0 && <Chart label={name} curves={drawn.curves} data={drawn.data} height={220} x={view.x === "time" ? "time" : view.x === "relative" ? "duration" : "number"} isLog={view.isLog} sync="compare" range={view.zoom} onZoom={onZoom} hasLegend={false} />}
      {drawn && drawn.curves.length === 0 && <p className={styles.place}>{runs.length === 0 ? "All runs are hidden." : "No values here."}</p>}
      {!drawn && asked.error && (
        <div className={styles.place} role="alert">
          Its values could not be had. <Button onClick={() => void asked.refetch()}>Try again</Button>
        </div>
      )}
      {!drawn && !asked.error && <div className={styles.place} role="status" aria-label="Loading" />}
      {notes.length > 0 && <p className={styles.notes}>{notes.join(" · ")}</p>}
    </section>
  );
}

/** Logged once by each: one number beside the other says more than a dot in a chart. */
function Singles({ runs, series }: { runs: readonly ShownRun[]; series: readonly Series[] }) {
  return (
    <ul className={styles.singles}>
      {runs.map((run) => {
        const value = series.find((each) => each.run === run.id)?.ys[0];
        return (
          <li key={run.id}>
            <Swatch run={run} /> <span>{run.label}</span> <b>{value === undefined || value === null ? "–" : formatNumber(value)}</b>
          </li>
        );
      })}
    </ul>
  );
}

/** Whether it has been near the window; once it was, it stays. */
function useIsSeen(box: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element || isSeen) return;
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: "300px" });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, isSeen]);
  return isSeen;
}
