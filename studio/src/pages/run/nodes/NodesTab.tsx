import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Timeline } from "@/api/types";
import { Chart } from "@/charts/Chart";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Checkbox } from "@/components/Field";
import { formatNumber } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { isOver } from "@/components/StatusPill";
import { useNow } from "@/components/Time";
import { useSearch } from "@/router/location";
import type { TabProps } from "../tabs";
import { Gantt } from "./Gantt";
import { countRanks, FEW_RANKS, toPlan } from "./gantt";
import styles from "./Nodes.module.css";
import { toCharts } from "./usage";

const SAMPLES_MS = 10_000;

/** Nodes and ranks: who ran when and how it ended, and what each node used. */
export default function NodesTab({ run }: TabProps) {
  const isLive = !isOver(run.status);
  const asked = useQuery({
    queryKey: keys.run(run.id, "timeline"),
    queryFn: ({ signal }) => call("get_timeline", { path: { run_id: run.id }, query: { points: 600 }, signal }),
    placeholderData: (before) => before,
    // Samples are no events: a script that logs nothing would have charts that stand still.
    refetchInterval: isLive ? SAMPLES_MS : false,
  });
  if (!asked.data) return asked.error ? <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} /> : <Skeleton lines={8} />;
  return (
    <div className={styles.tab} data-testid="run-nodes">
      {isLive ? <Growing timeline={asked.data} /> : <Rows timeline={asked.data} now={asked.data.time} />}
      <Usage samples={asked.data.samples} start={asked.data.phases[0]?.start ?? 0} isLive={isLive} />
    </div>
  );
}

function Growing({ timeline }: { timeline: Timeline }) {
  // Not before the keeper's own time: clocks differ.
  const now = Math.max(timeline.time, useNow() / 1000);
  const phases = timeline.phases.map((phase, index, all) => (index === all.length - 1 ? { ...phase, end: now } : phase));
  return <Rows timeline={{ ...timeline, phases }} now={now} />;
}

function Rows({ timeline, now }: { timeline: Timeline; now: number }) {
  const [search, change] = useSearch();
  const ranks = countRanks(timeline);
  const isFew = ranks <= FEW_RANKS;
  const told = search.get("ranks");
  const isWithRanks = told === null ? isFew : told === "all";
  const plan = useMemo(() => toPlan(timeline, now, isWithRanks), [timeline, now, isWithRanks]);
  return (
    <Card
      title="Timeline"
      testId="nodes-timeline"
      isFlush
      actions={ranks > 0 && <Checkbox label={`Ranks (${ranks})`} checked={isWithRanks} onChange={(event) => change({ ranks: event.target.checked === isFew ? null : event.target.checked ? "all" : "none" })} data-testid="nodes-ranks" />}
    >
      {plan.rows.length === 0 ? (
        <EmptyState icon="compute" title="It has not begun">
          <p>Nodes and ranks show up here once the run has some.</p>
        </EmptyState>
      ) : (
        <Gantt plan={plan} />
      )}
    </Card>
  );
}

function Usage({ samples, start, isLive }: { samples: Timeline["samples"]; start: number; isLive: boolean }) {
  const charts = useMemo(() => toCharts(samples, start), [samples, start]);
  if (charts.length === 0) {
    return (
      <Card title="What the nodes used">
        <p className={styles.none}>{isLive ? "The first measurement comes within a minute." : "Nothing was measured: the run was too short, or it was not started by an agent."}</p>
      </Card>
    );
  }
  return (
    <div className={styles.charts}>
      {charts.map((chart) => (
        <Card key={chart.key} title={chart.title} testId={`nodes-chart-${chart.key}`} actions={<Peak data={chart.data} />}>
          <Chart label={chart.title} curves={chart.curves} data={chart.data} x="duration" sync="run-nodes" height={180} hasLegend={chart.curves.length > 1} />
        </Card>
      ))}
    </div>
  );
}

function Peak({ data }: { data: readonly (readonly (number | null)[])[] }) {
  const values = data.slice(1).flatMap((ys) => ys.filter((y) => y !== null));
  if (values.length === 0) return null;
  return <span className={styles.peak}>at most {formatNumber(values.reduce((a, b) => Math.max(a, b)), 3)}</span>;
}
