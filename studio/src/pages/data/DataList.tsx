import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Dataset } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { formatBytes, formatCount, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Table, type Column } from "@/components/Table";
import { Tabs } from "@/components/Tabs";
import { Ago } from "@/components/Time";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import styles from "./Data.module.css";
import { datasetAddress, hasWords, kindOf } from "./datasets";
import { Datastores } from "./Datastores";
import { Upload } from "./Upload";

const COLUMNS: Column<Dataset>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(10rem, 2fr)",
    isSticky: true,
    cell: (row) => (
      <Link to={datasetAddress(row.name)} className={styles.name}>
        {row.name}
      </Link>
    ),
  },
  { id: "version", title: "Version", width: "5rem", align: "right", cell: (row) => row.version },
  { id: "kind", title: "Kind", width: "11rem", isExtra: true, cell: kindOf },
  { id: "files", title: "Files", width: "6rem", align: "right", isExtra: true, cell: (row) => formatCount(row.files) },
  { id: "bytes", title: "Size", width: "6rem", align: "right", cell: (row) => formatBytes(row.bytes) },
  { id: "used", title: "Runs", width: "5rem", align: "right", isExtra: true, cell: (row) => formatCount(row.used_by_runs) },
  { id: "description", title: "Description", width: "minmax(8rem, 2fr)", isExtra: true, cell: (row) => row.description || "–" },
  { id: "created", title: "Registered", width: "7rem", isExtra: true, cell: (row) => <Ago time={row.created_utc} /> },
];

/** All data sets, and the places where files are. */
export default function DataList() {
  const [search, change] = useSearch();
  const mayUpload = useMay("contributor");
  const sets = useQuery({ queryKey: keys.data("names"), queryFn: ({ signal }) => call("list_datasets", { signal }) });
  const stores = useQuery({ queryKey: keys.data("stores"), queryFn: ({ signal }) => call("list_datastores", { signal }) });
  return (
    <Upload isAsked={search.has("upload")} onClose={() => change({ upload: null })} mayUpload={mayUpload}>
      <header className={styles.head}>
        <h1>Data</h1>
        {(sets.data?.datasets.length ?? 0) > 0 && search.get("view") !== "stores" && (
          <SearchInput className={styles.find} label="Name, tag or description" value={search.get("q") ?? ""} onChange={(event) => change({ q: event.target.value })} data-testid="data-search" />
        )}
        {mayUpload && (
          <Button icon="plus" onClick={() => change({ upload: "yes" })} data-testid="data-new">
            Upload
          </Button>
        )}
      </header>
      <Tabs
        label="Data"
        selected={search.get("view") ?? "sets"}
        onSelect={(view) => change({ view: view === "sets" ? null : view })}
        tabs={[
          { id: "sets", label: "Data sets", count: sets.data?.datasets.length, content: () => <Sets asked={sets} text={search.get("q") ?? ""} onAll={() => change({ q: null })} /> },
          { id: "stores", label: "Datastores", count: stores.data?.datastores.length, content: () => <Datastores asked={stores} /> },
        ]}
      />
    </Upload>
  );
}

interface SetsProps {
  asked: { data?: { datasets: Dataset[] }; isPending: boolean; error: unknown; refetch: () => unknown };
  text: string;
  onAll: () => void;
}

function Sets({ asked, text, onAll }: SetsProps) {
  const isNarrow = useIsNarrow();
  const rows = useMemo(() => (asked.data?.datasets ?? []).filter((row) => hasWords(row, text)), [asked.data, text]);
  const total = asked.data?.datasets.length ?? 0;
  return (
    <Card isFlush className={styles.card}>
      {asked.isPending && <Skeleton lines={6} />}
      {!asked.data && Boolean(asked.error) && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && total === 0 && <NoData />}
      {total > 0 && rows.length === 0 && (
        <EmptyState icon="search" title="No data set has these words">
          <Button onClick={onAll}>Show all</Button>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Table
          label="Data sets"
          testId="data-table"
          columns={isNarrow ? COLUMNS.filter((column) => !column.isExtra) : COLUMNS}
          rows={rows}
          rowKey={(row) => row.name}
          onOpen={(row) => navigate(datasetAddress(row.name))}
          foot={<span>{plural(rows.length, "data set")}</span>}
        />
      )}
    </Card>
  );
}

function NoData() {
  return (
    <EmptyState icon="data" title="No data sets yet">
      <p>Drop a folder or a zip on this page. From a shell, or in Python:</p>
      <pre>
        <code>{'rookery data add birds ./pictures\n\nDataset.File.from_files((store, "birds")).register(ws, "birds")'}</code>
      </pre>
    </EmptyState>
  );
}
