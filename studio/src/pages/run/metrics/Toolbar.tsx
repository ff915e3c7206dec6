import { useEffect, useState } from "react";
import { urlOf } from "@/api/client";
import { Button } from "@/components/Button";
import { Checkbox, SearchInput, Select } from "@/components/Field";
import { formatDuration, formatNumber, formatTime } from "@/components/format";
import { Icon } from "@/components/Icon";
import styles from "./Metrics.module.css";
import type { View } from "./view";

export type Change = (patch: Record<string, string | null>, options?: { push?: boolean }) => void;

/** How all charts are drawn: by what, smoothed, on which axis; and where they are zoomed to. */
export function Toolbar({ run, view, hasRanks, change }: { run: string; view: View; hasRanks: boolean; change: Change }) {
  return (
    <div className={styles.toolbar}>
      <SearchInput label="Find metrics" defaultValue={view.wanted} onChange={(event) => change({ q: event.target.value })} className={styles.find} data-testid="metrics-find" />
      <XSelect view={view} change={change} />
      <Smoothing view={view} change={change} />
      <Checkbox label="Log axis" checked={view.isLog} onChange={(event) => change({ scale: event.target.checked ? "log" : null })} data-testid="metrics-log" />
      {hasRanks && <ByRank view={view} change={change} />}
      {view.zoom && <ZoomChip view={view} change={change} />}
      <a className={styles.download} href={urlOf("download_metrics", { run_id: run }, hasRanks ? { by: "rank" } : {})} download>
        <Icon name="download" /> CSV of all
      </a>
    </div>
  );
}

/** Only where several ranks logged the same metric. */
export function ByRank({ view, change }: { view: View; change: Change }) {
  return <Checkbox label="By rank" checked={view.isByRank} onChange={(event) => change({ by: event.target.checked ? "rank" : null })} data-testid="metrics-by-rank" />;
}

export function XSelect({ view, change }: { view: View; change: Change }) {
  return (
    <Select aria-label="X axis" className={styles.x} value={view.x} onChange={(event) => change({ x: event.target.value === "step" ? null : event.target.value, zoom: null })} data-testid="metrics-x">
      <option value="step">By step</option>
      <option value="relative">By time since the start</option>
      <option value="time">By time of day</option>
    </Select>
  );
}

/** Moves at once; the address follows when it rests, because browsers limit how often it may change. */
export function Smoothing({ view, change }: { view: View; change: Change }) {
  const [value, setValue] = useState(view.smooth);
  useEffect(() => setValue(view.smooth), [view.smooth]);
  useEffect(() => {
    if (value === view.smooth) return;
    const timer = setTimeout(() => change({ smooth: value ? String(value) : null }), 60);
    return () => clearTimeout(timer);
  }, [value, view.smooth, change]);
  return (
    <label className={styles.smooth}>
      <span>Smoothing</span>
      <input type="range" min={0} max={0.99} step={0.01} value={value} onChange={(event) => setValue(Number(event.target.value))} data-testid="metrics-smooth" />
      <output className="numbers">{value.toFixed(2)}</output>
    </label>
  );
}

export function ZoomChip({ view, change }: { view: View; change: Change }) {
  const word = (value: number) => (view.x === "time" ? formatTime(value).slice(11, 19) : view.x === "relative" ? formatDuration(value) : formatNumber(Math.round(value * 100) / 100));
  const [from, to] = view.zoom as [number, number];
  return (
    <Button icon="close" onClick={() => change({ zoom: null })} data-testid="metrics-zoom" title="Show all">
      {view.x === "step" ? "Steps " : ""}
      {word(from)} to {word(to)}
    </Button>
  );
}
