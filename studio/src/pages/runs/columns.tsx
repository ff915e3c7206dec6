import type { TableRun } from "@/api/types";
import { Sparkline } from "@/charts/Sparkline";
import { formatDuration, formatNumber } from "@/components/format";
import { isOver, StatusPill } from "@/components/StatusPill";
import type { Column } from "@/components/Table";
import { Ago, Elapsed } from "@/components/Time";
import { Link } from "@/router/Link";
import { FIXED, splitId, type ColumnId } from "./choice";
import { sortIdOf } from "./question";
import styles from "./Runs.module.css";

export type { TableRun };

type Look = Pick<Column<TableRun>, "cell" | "width" | "align">;

/** What each fixed column shows. Widths never come from the content, which is not all there. */
const LOOKS: Record<string, Look> = {
  name: {
    width: "minmax(14rem, 2fr)",
    cell: (run) => (
      <Link to={`/runs/${encodeURIComponent(run.id)}`} className={styles.name} title={run.id}>
        {run.display_name || run.id}
        {run.num_children > 0 && (
          <span className={styles.children} title={`${run.num_children} child runs`}>
            +{run.num_children}
          </span>
        )}
      </Link>
    ),
  },
  status: { width: "9.5rem", cell: (run) => <StatusPill status={run.status} reason={run.cause?.summary ?? run.reason} isStale={run.stale} /> },
  experiment: { width: "minmax(8rem, 1fr)", cell: (run) => <Link to={`/experiments/${encodeURIComponent(run.experiment)}`}>{run.experiment}</Link> },
  created: { width: "7rem", cell: (run) => <Ago time={run.created_utc} /> },
  started: { width: "7rem", cell: (run) => <Ago time={run.started_utc} /> },
  ended: { width: "7rem", cell: (run) => <Ago time={run.ended_utc} /> },
  duration: { width: "6.5rem", align: "right", cell: (run) => (isOver(run.status) ? formatDuration(run.duration_s) : <Elapsed start={run.started_utc} end={null} />) },
  compute: { width: "minmax(6rem, 0.7fr)", cell: (run) => run.compute },
  user: { width: "minmax(5rem, 0.6fr)", cell: (run) => run.submitted_by },
  cause: { width: "minmax(14rem, 2fr)", cell: (run) => (run.cause?.summary ? <span className={styles.cause} title={run.cause.summary}>{run.cause.summary}</span> : null) },
  kind: { width: "6rem", cell: (run) => run.kind },
  number: { width: "5.5rem", align: "right", cell: (run) => run.number },
  attempt: { width: "5.5rem", align: "right", cell: (run) => run.attempt },
  nodes: { width: "5.5rem", align: "right", cell: (run) => run.node_count },
  id: { width: "minmax(14rem, 1fr)", cell: (run) => <code className={styles.id}>{run.id}</code> },
};
const NARROW: Record<string, string> = { name: "minmax(6.6rem, 1fr)", status: "8rem", created: "5.9rem" };

/** The table's columns for what was chosen. On a phone the defaults are fewer. */
export function toColumns(ids: readonly ColumnId[], isNarrow: boolean): Column<TableRun>[] {
  return ids.map((id) => {
    const [kind, name] = splitId(id);
    const sortId = sortIdOf(id);
    const shared = { id, title: kind ? name : FIXED[id], label: kind ? name : undefined, sortId: sortId ?? undefined, isSortable: sortId !== null };
    if (kind === "chart") return { ...shared, width: "10.5rem", align: "right" as const, cell: (run: TableRun) => <ChartCell run={run} name={name} /> };
    if (kind === "metric") return { ...shared, width: "minmax(7rem, 0.6fr)", align: "right" as const, cell: (run: TableRun) => (name in run.metrics ? formatNumber(run.metrics[name]) : "") };
    if (kind) return { ...shared, width: "minmax(7rem, 0.6fr)", cell: (run: TableRun) => <Text text={(kind === "param" ? run.params : run.tags)[name]} /> };
    const look = LOOKS[id] as Look;
    return { ...shared, ...look, width: (isNarrow && NARROW[id]) || look.width, isSticky: id === "name" && !isNarrow };
  });
}

/** What fits a phone, where nobody has chosen. */
export function narrowColumns(ids: readonly ColumnId[]): ColumnId[] {
  return ids.filter((id) => id in NARROW);
}

function ChartCell({ run, name }: { run: TableRun; name: string }) {
  const series = run.series?.[name];
  if (!(name in run.metrics)) return null;
  return (
    <span className={styles.chart}>
      {series && series.x.length > 1 && <Sparkline xs={series.x} ys={series.y} label={`${name} over its steps`} />}
      <span>{formatNumber(run.metrics[name], 4)}</span>
    </span>
  );
}

function Text({ text }: { text: string | null | undefined }) {
  return text === null || text === undefined ? null : <span title={text}>{text}</span>;
}
