import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Table, type Column } from "@/components/Table";
import { Tabs } from "@/components/Tabs";
import { Ago } from "@/components/Time";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import { BuiltList } from "./BuiltList";
import { contentsOf, inBrief } from "./contents";
import styles from "./Environments.module.css";

type Row = Answer<"list_environments">["environments"][number];

const address = (name: string) => `/environments/${encodeURIComponent(name)}`;

const COLUMNS: Column<Row>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(12rem, 2fr)",
    isSticky: true,
    cell: (row) => (
      <Link to={address(row.name)} className={styles.name}>
        {row.name}
      </Link>
    ),
  },
  { id: "version", title: "Version", width: "5.5rem", align: "right", isExtra: true, cell: (row) => row.version },
  { id: "kind", title: "Kind", width: "8rem", cell: (row) => (row.curated ? <Pill word="curated" tone="idle" icon="nest" /> : <Pill word="registered" tone="good" icon="person" />) },
  { id: "holds", title: "Holds", width: "minmax(12rem, 2.5fr)", isExtra: true, cell: (row) => (typeof row.maps_to === "string" && row.maps_to ? row.maps_to : inBrief(contentsOf(row.definition))) },
  { id: "created", title: "Registered", width: "8rem", isExtra: true, cell: (row) => <Ago time={row.created_utc} /> },
];

/** Environments by name, and those that are built on this machine. */
export default function EnvironmentList() {
  const [search, change] = useSearch();
  return (
    <>
      <header className={styles.head}>
        <h1>Environments</h1>
        <SearchInput className={styles.find} label="Name or package" value={search.get("q") ?? ""} onChange={(event) => change({ q: event.target.value })} data-testid="environments-search" />
      </header>
      <Tabs
        label="Environments"
        selected={search.get("view") ?? "named"}
        onSelect={(view) => change({ view: view === "named" ? null : view })}
        tabs={[
          { id: "named", label: "By name", content: () => <Named text={search.get("q") ?? ""} /> },
          { id: "built", label: "Built on this machine", content: () => <BuiltList text={search.get("q") ?? ""} /> },
        ]}
      />
    </>
  );
}

function Named({ text }: { text: string }) {
  const asked = useQuery({ queryKey: keys.environments("names"), queryFn: ({ signal }) => call("list_environments", { signal }) });
  const isNarrow = useIsNarrow();
  const wanted = text.toLowerCase();
  const rows = useMemo(
    () => (asked.data?.environments ?? []).filter((row) => `${row.name} ${inBrief(contentsOf(row.definition), 1000)}`.toLowerCase().includes(wanted)),
    [asked.data, wanted],
  );
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  return (
    <Card isFlush className={styles.card}>
      {rows.length === 0 ? (
        <EmptyState icon="environment" title={text ? "No environment has these words" : "No environments yet"}>
          <p>Register one in Python, or let a run make it from a file:</p>
          <pre>
            <code>{"rookery run --env environment.yml train.py"}</code>
          </pre>
        </EmptyState>
      ) : (
        <Table
          label="Environments by name"
          testId="environments-table"
          columns={isNarrow ? COLUMNS.filter((column) => !column.isExtra) : COLUMNS}
          rows={rows}
          rowKey={(row) => row.name}
          onOpen={(row) => navigate(address(row.name))}
          maxHeight="70vh"
          foot={<span>{plural(rows.length, "environment")}</span>}
        />
      )}
    </Card>
  );
}
