import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput, Select } from "@/components/Field";
import { formatCount, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { StatusPill } from "@/components/StatusPill";
import { Table, type Column } from "@/components/Table";
import { Ago } from "@/components/Time";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import { ExperimentMenu } from "./ExperimentMenu";
import styles from "./Experiments.module.css";
import { parseSort, shownOf, type Shown } from "./shown";

const NEWEST = { limit: 200, columns: { metrics: [], params: [], tags: [] } };

/** All experiments: how many runs, which was the last and how it went. */
export default function Experiments() {
  const [search, change] = useSearch();
  const isNarrow = useIsNarrow();
  const view = search.get("view") === "archived" ? "archived" : "active";
  const found = useQuery({ queryKey: [...keys.experiments, view], queryFn: ({ signal }) => call("list_experiments", { query: { view }, signal }), placeholderData: (before) => before });
  const newest = useQuery({ queryKey: keys.runs({ newest: NEWEST.limit }), queryFn: ({ signal }) => call("search_runs", { body: NEWEST, signal }) });
  const sort = parseSort(search.get("sort"));
  const text = search.get("q") ?? "";
  const rows = useMemo(() => shownOf(found.data?.experiments ?? [], newest.data?.runs ?? [], text, parseSort(search.get("sort"))), [found.data, newest.data, text, search]);
  const columns = useMemo(() => columnsFor(isNarrow), [isNarrow]);
  return (
    <>
      <header className={styles.head}>
        <h1>Experiments</h1>
        <div className={styles.filters} role="search" aria-label="Filter experiments">
          <SearchInput label="Name or tag" value={text} onChange={(event) => change({ q: event.target.value })} data-testid="experiments-search" />
          <Select aria-label="Which experiments" value={view} onChange={(event) => change({ view: event.target.value === "archived" ? "archived" : null })}>
            <option value="active">In use</option>
            <option value="archived">Archived</option>
          </Select>
        </div>
      </header>
      <Card isFlush className={styles.card}>
        {found.error && <ErrorNotice error={found.error} onRetry={() => void found.refetch()} />}
        {found.isPending && !found.error && (
          <div className={styles.loading}>
            <Skeleton lines={6} height={18} />
          </div>
        )}
        {found.data && rows.length === 0 && <None text={text} view={view} />}
        {rows.length > 0 && (
          <Table
            label="Experiments"
            testId="experiments-table"
            columns={columns}
            rows={rows}
            rowKey={(row) => row.name}
            sort={sort}
            onSort={(next) => change({ sort: (next.ascending ? "" : "-") + next.id })}
            onOpen={(row) => navigate(`/experiments/${encodeURIComponent(row.name)}`)}
            foot={<span>{plural(rows.length, "experiment")}</span>}
          />
        )}
      </Card>
    </>
  );
}

function columnsFor(isNarrow: boolean): Column<Shown>[] {
  const all: Column<Shown>[] = [
    {
      id: "name",
      title: "Experiment",
      width: isNarrow ? "minmax(8rem, 1fr)" : "minmax(12rem, 2fr)",
      isSortable: true,
      cell: (row) => (
        <Link to={`/experiments/${encodeURIComponent(row.name)}`} className={styles.name}>
          {row.name}
        </Link>
      ),
    },
    { id: "runs", title: "Runs", width: "5rem", align: "right", isSortable: true, cell: (row) => formatCount(row.shown_count) },
    { id: "children", title: "Child runs", width: "6.5rem", align: "right", isExtra: true, cell: (row) => row.child_count > 0 && <span className={styles.children}>+ {formatCount(row.child_count)}</span> },
    {
      id: "last",
      title: "Last run",
      width: isNarrow ? "9rem" : "minmax(12rem, 1.5fr)",
      isSortable: true,
      cell: (row) =>
        row.last && (
          <span className={styles.last}>
            <StatusPill status={row.last.status} reason={row.last.cause?.summary ?? row.last.reason} isStale={row.last.stale} />
            {!isNarrow && (
              <Link to={`/runs/${encodeURIComponent(row.last.id)}`}>
                <Ago time={row.last.created_utc} />
              </Link>
            )}
          </span>
        ),
    },
    { id: "tags", title: "Tags", width: "minmax(8rem, 1.5fr)", isExtra: true, cell: (row) => tagWords(row) },
    { id: "created", title: "Created", width: "8rem", isSortable: true, isExtra: true, cell: (row) => <Ago time={row.created_utc} /> },
    { id: "more", title: <span className="unseen">More</span>, label: "More", width: "3.2rem", cell: (row) => <ExperimentMenu experiment={row} /> },
  ];
  return all.filter((column) => !(isNarrow && column.isExtra));
}

function tagWords(row: Shown): string {
  return Object.entries(row.tags)
    .map(([name, value]) => (value ? `${name}=${value}` : name))
    .join(", ");
}

function None({ text, view }: { text: string; view: string }) {
  if (text || view === "archived") {
    return (
      <EmptyState icon="folder" title={text ? "No experiment fits" : "No experiment is archived"}>
        <p>{text ? "Names and tags are looked through." : "Archive one that is over, from the list of those in use."}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="folder" title="No experiments yet">
      <p>An experiment is made by its first run.</p>
      <pre>
        <code>rookery run --experiment birds train.py</code>
      </pre>
    </EmptyState>
  );
}
