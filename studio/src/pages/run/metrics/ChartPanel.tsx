import { memo, useEffect, useRef, useState, type RefObject } from "react";
import { urlOf } from "@/api/client";
import { Chart } from "@/charts/Chart";
import { Button, IconButton } from "@/components/Button";
import { formatCount, formatNumber, plural } from "@/components/format";
import { Menu } from "@/components/Menu";
import type { ChartPlan } from "./charts";
import styles from "./Metrics.module.css";
import { useSeries, type Loaded } from "./useSeries";
import type { View } from "./view";

export interface PanelProps {
  run: string;
  plan: ChartPlan;
  view: View;
  /** Taken off times: unix seconds of the start, or 0. */
  start: number;
  onZoom: (zoom: [number, number] | null) => void;
  onOpen: (key: string) => void;
}

const POINTS = 1200; // two for each pixel of a panel: the smallest and the largest
const HEIGHT = 200;

/** One metric, in the grid. Nothing is asked or drawn for it before it comes into sight. */
export const ChartPanel = memo(function ChartPanel({ run, plan, view, start, onZoom, onOpen }: PanelProps) {
  const box = useRef<HTMLElement>(null);
  const isSeen = useIsSeen(box);
  const loaded = useSeries(run, plan, view, start, POINTS, isSeen);
  return (
    <section ref={box} className={styles.panel} data-testid="metrics-chart" data-chart={plan.key} aria-label={plan.title}>
      <header className={styles.panelHead}>
        <h3 title={plan.title}>{plan.title}</h3>
        {plan.last !== null && <span className={styles.last}>{formatNumber(plan.last)}</span>}
        <IconButton icon="external" label={`Enlarge ${plan.title}`} onClick={() => onOpen(plan.key)} />
        <Menu
          label={`More of ${plan.title}`}
          isIconOnly
          items={plan.lines.slice(0, 12).map((line) => ({ label: plan.lines.length === 1 ? "Download as CSV" : `Download ${line.label} as CSV`, icon: "download", run: () => location.assign(urlOf("download_metrics", { run_id: run }, { name: line.name })) }))}
        />
      </header>
      <Curves plan={plan} view={view} loaded={loaded} height={HEIGHT} onZoom={onZoom} />
    </section>
  );
});

interface CurvesProps {
  plan: ChartPlan;
  view: View;
  loaded: Loaded;
  height: number;
  onZoom: (zoom: [number, number] | null) => void;
}

/** The picture, or what is there instead of it; below it what cannot be seen. */
export function Curves({ plan, view, loaded, height, onZoom }: CurvesProps) {
  const { drawn, error, retry } = loaded;
  if (error) {
    return (
      <div className={styles.place} style={{ height }} role="alert">
        <span>Its values could not be had.</span>
        <Button onClick={retry}>Try again</Button>
      </div>
    );
  }
  if (!drawn) return <div className={styles.place} style={{ height }} role="status" aria-label="Loading" />;
  const notes: string[] = [];
  if (drawn.holes) notes.push(`${plural(drawn.holes, "value")} not finite`);
  if (drawn.left) notes.push(`${plural(drawn.left, "value")} at or below 0 left out`);
  if (drawn.ranksLeftOut) notes.push(`${plural(drawn.ranksLeftOut, "more rank")} not drawn`);
  const sampled = loaded.series.filter((each) => each.sampled);
  if (sampled.length) notes.push(`${formatCount(sampled.reduce((sum, each) => sum + each.in_range, 0))} values, drawn as extremes`);
  return (
    <>
      <Chart
        label={plan.title}
        curves={drawn.curves}
        data={drawn.data}
        height={height}
        x={view.x === "time" ? "time" : view.x === "relative" ? "duration" : "number"}
        isLog={view.isLog}
        sync="run-metrics"
        range={view.zoom}
        onZoom={onZoom}
        hasLegend={loaded.series.length > 1}
      />
      <p className={styles.notes}>{drawn.curves.length === 0 ? "No values here." : notes.join(" · ")}</p>
    </>
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
