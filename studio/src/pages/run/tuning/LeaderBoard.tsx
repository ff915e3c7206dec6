import { useMemo, useState } from "react";
import { formatDuration, formatNumber } from "@/components/format";
import { StatusPill } from "@/components/StatusPill";
import { Table, type Column, type Sort } from "@/components/Table";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import { paramName, type Trial, type Tuning } from "./trials";
import styles from "./Tuning.module.css";

/** The children of a tuning; any column orders them. */
export function LeaderBoard({ tuning, rows }: { tuning: Tuning; rows: readonly Trial[] }) {
  const [sort, setSort] = useState<Sort | null>(null);
  const columns = useMemo(() => columnsOf(tuning), [tuning]);
  const shown = useMemo(() => sorted(rows, sort), [rows, sort]);
  return (
    <Table
      label="Children, the best first"
      testId="tuning-table"
      maxHeight="32rem"
      columns={columns}
      rows={shown}
      rowKey={(trial) => trial.run_id}
      sort={sort}
      onSort={setSort}
      onOpen={(trial) => navigate(`/runs/${encodeURIComponent(trial.run_id)}`)}
    />
  );
}

function columnsOf(tuning: Tuning): Column<Trial>[] {
  const params = Object.keys(tuning.space).map(
    (name): Column<Trial> => ({ id: `p:${name}`, title: paramName(name), width: "minmax(6rem, 0.6fr)", align: "right", isSortable: true, cell: (trial) => value(trial.parameters[name]) }),
  );
  return [
    { id: "rank", title: "Rank", width: "4rem", align: "right", isSortable: true, cell: (trial) => trial.rank ?? "" },
    { id: "run", title: "Child", width: "6rem", isSticky: true, cell: (trial) => <Link to={`/runs/${encodeURIComponent(trial.run_id)}`}>Child {trial.number}</Link> },
    { id: "status", title: "Status", width: "9rem", cell: (trial) => <StatusPill status={trial.status} reason={trial.stopped || trial.reason} /> },
    { id: "best", title: tuning.metric, width: "minmax(6rem, 0.6fr)", align: "right", isSortable: true, cell: (trial) => (trial.best === null ? "" : formatNumber(trial.best)) },
    ...params,
    { id: "intervals", title: "Intervals", width: "6rem", align: "right", isSortable: true, cell: (trial) => trial.intervals },
    { id: "duration", title: "Duration", width: "6rem", align: "right", isSortable: true, isExtra: true, cell: (trial) => (trial.duration_s === null ? "" : formatDuration(trial.duration_s)) },
    { id: "stopped", title: "Stopped because", width: "minmax(14rem, 2fr)", cell: (trial) => <span className={styles.why} title={trial.stopped}>{trial.stopped}</span> },
  ];
}

function sorted(rows: readonly Trial[], sort: Sort | null): readonly Trial[] {
  if (!sort) return rows;
  const of = (trial: Trial): unknown => (sort.id.startsWith("p:") ? trial.parameters[sort.id.slice(2)] : { rank: trial.rank, best: trial.best, intervals: trial.intervals, duration: trial.duration_s }[sort.id]);
  const sign = sort.ascending ? 1 : -1;
  // What has no value is last, whichever way.
  return [...rows].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === null || x === undefined) return y === null || y === undefined ? 0 : 1;
    if (y === null || y === undefined) return -1;
    return typeof x === "number" && typeof y === "number" ? sign * (x - y) : sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

function value(given: unknown): string {
  return typeof given === "number" ? formatNumber(given) : given !== null && typeof given === "object" ? JSON.stringify(given) : String(given ?? "");
}
