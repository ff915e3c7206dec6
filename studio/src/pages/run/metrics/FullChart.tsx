import { useSyncExternalStore } from "react";
import { urlOf } from "@/api/client";
import { Dialog } from "@/components/Dialog";
import { Checkbox } from "@/components/Field";
import { Icon } from "@/components/Icon";
import { Curves, type PanelProps } from "./ChartPanel";
import styles from "./Metrics.module.css";
import { ByRank, Smoothing, XSelect, ZoomChip, type Change } from "./Toolbar";
import { useSeries } from "./useSeries";

const POINTS = 4000;

/** One chart over the whole window, with finer data. Its address can be shared. */
export function FullChart({ run, plan, view, start, onZoom, onClose, change, hasRanks }: PanelProps & { onClose: () => void; change: Change; hasRanks: boolean }) {
  const height = useSyncExternalStore(subscribe, () => window.innerHeight);
  const loaded = useSeries(run, plan, view, start, POINTS, true);
  return (
    <Dialog title={plan.title} onClose={onClose} isFull>
      <div className={styles.toolbar} data-testid="metrics-full">
        <XSelect view={view} change={change} />
        <Smoothing view={view} change={change} />
        <Checkbox label="Log axis" checked={view.isLog} onChange={(event) => change({ scale: event.target.checked ? "log" : null })} />
        {hasRanks && <ByRank view={view} change={change} />}
        {view.zoom && <ZoomChip view={view} change={change} />}
        {plan.lines.length === 1 && (
          <a className={styles.download} href={urlOf("download_metrics", { run_id: run }, { name: plan.lines[0]?.name })} download>
            <Icon name="download" /> CSV
          </a>
        )}
      </div>
      <Curves plan={plan} view={view} loaded={loaded} height={Math.max(240, height - 175)} onZoom={onZoom} />
    </Dialog>
  );
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("resize", listener);
  return () => window.removeEventListener("resize", listener);
}
