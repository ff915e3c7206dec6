import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Table } from "@/components/Table";
import { useIsNarrow } from "@/components/useIsNarrow";
import type { PageProps } from "@/registry";
import { navigate, useSearch } from "@/router/location";
import { usePageCommands } from "@/shell/pageCommands";
import { defaultColumns, keepColumns, parseColumns, readColumns, topMetrics, type ColumnId } from "./choice";
import { ColumnPicker } from "./ColumnPicker";
import { narrowColumns, toColumns } from "./columns";
import { collectIds } from "./collect";
import { FilterBar } from "./FilterBar";
import { FILTERS, formatSort, parseSort, toFilter, toQuestion } from "./question";
import styles from "./Runs.module.css";
import { RunsEmpty } from "./RunsEmpty";
import { SelectionBar } from "./SelectionBar";
import { useRunTable } from "./useRunTable";

const NEWEST = { id: "created", ascending: false };

/** All runs, or those of an experiment: filtered, sorted and paged by the keeper. */
export default function Runs({ params }: PageProps) {
  const { experiment } = params;
  const [search, change] = useSearch();
  const names = useQuery({
    queryKey: keys.names({ experiment }),
    queryFn: ({ signal }) => call("list_names", { query: experiment ? { experiment: [experiment] } : {}, signal }),
    staleTime: 60_000,
  });
  const [columns, setColumns] = useColumns(search, change, experiment, names.data?.metrics, names.isPending);
  const isNarrow = useIsNarrow();
  const question = useMemo(() => toQuestion(search, experiment, columns), [search, experiment, columns]);
  const filter = useMemo(() => toFilter(search, experiment), [search, experiment]);
  const table = useRunTable(question, filter);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const filterKey = JSON.stringify(filter);
  useEffect(() => setSelected(new Set()), [filterKey]); // what is not in the list is not meant
  const shown = useMemo(() => toColumns(columns, isNarrow), [columns, isNarrow]);
  const collect = useCallback((onFound: (count: number) => void) => collectIds(filter, onFound), [filter]);
  const view = search.get("view") ?? "";
  const isFiltered = FILTERS.some((key) => key !== "view" && key !== "children" && search.get(key));
  const { rows, total, hasMore } = table;
  const clear = () => change(Object.fromEntries(FILTERS.map((key) => [key, null])));
  usePageCommands([
    ...(isFiltered || view ? [{ title: "Take all filters away", icon: "filter" as const, words: "clear reset", run: clear }] : []),
    ...(rows.length > 0 ? [{ title: "Select all runs shown", icon: "check" as const, words: "mark", run: () => setSelected(new Set(rows.map((run) => run.id))) }] : []),
  ]);

  return (
    <>
      <header className={styles.head}>
        <h1>{experiment ?? "Runs"}</h1>
        {total !== null && total > 0 && <span className={styles.total}>{plural(total, "run")}</span>}
        <FilterBar experiment={experiment} search={search} change={change} names={names.data}>
          <ColumnPicker chosen={columns} names={names.data} onChange={setColumns} />
        </FilterBar>
      </header>
      <Card isFlush className={styles.card}>
        {selected.size > 0 && <SelectionBar selected={selected} rows={rows} total={total} view={view} onSelect={setSelected} onGone={table.drop} collect={collect} />}
        {table.error !== null && <ErrorNotice error={table.error} onRetry={table.retry} />}
        {table.isPending && table.error === null && (
          <div className={styles.loading}>
            <Skeleton lines={10} height={18} />
          </div>
        )}
        {!table.isPending && !table.isOld && rows.length === 0 && <RunsEmpty isFiltered={isFiltered} view={view} onClear={clear} />}
        {rows.length > 0 && (
          <Table
            label={experiment ? `Runs of ${experiment}` : "Runs"}
            testId="runs-table"
            columns={shown}
            rows={rows}
            rowKey={(run) => run.id}
            sort={parseSort(search.get("sort")) ?? NEWEST}
            onSort={(sort) => change({ sort: formatSort(sort) })}
            onOpen={(run) => navigate(`/runs/${encodeURIComponent(run.id)}`)}
            selected={selected}
            onSelect={setSelected}
            onEnd={table.more}
            total={total}
            isOld={table.isOld}
            resetKey={JSON.stringify([filterKey, search.get("sort")])}
            foot={<span>{footWords(rows.length, total, hasMore, table.isLoadingMore)}</span>}
          />
        )}
      </Card>
    </>
  );
}

function footWords(loaded: number, total: number | null, hasMore: boolean, isLoading: boolean): string {
  if (!hasMore) return plural(loaded, "run");
  const of = total === null ? plural(loaded, "run") : `${formatCount(loaded)} of ${plural(total, "run")}`;
  return `${of} loaded${isLoading ? "; loading more" : "; scroll for more"}`;
}

type Change = (patch: Record<string, string | null>) => void;

/** The columns: of the address (somebody has shared a view), as chosen here before, or the usual ones. */
function useColumns(search: URLSearchParams, change: Change, experiment: string | undefined, metrics: readonly { name: string; runs: number }[] | undefined, isPending: boolean) {
  const [kept, setKept] = useState(() => readColumns(experiment));
  const isNarrow = useIsNarrow();
  useEffect(() => setKept(readColumns(experiment)), [experiment]);
  const shared = search.get("columns");
  const top = isPending ? "" : JSON.stringify(topMetrics(metrics ?? []));
  const columns = useMemo<ColumnId[]>(() => {
    const usual = defaultColumns(top ? (JSON.parse(top) as string[]) : [], experiment !== undefined);
    return parseColumns(shared) ?? kept ?? (isNarrow ? narrowColumns(usual) : usual);
  }, [shared, kept, top, experiment, isNarrow]);
  const set = useCallback(
    (ids: ColumnId[] | null) => {
      keepColumns(ids, experiment);
      setKept(ids);
      change({ columns: null });
    },
    [experiment, change],
  );
  return [columns, set] as const;
}
