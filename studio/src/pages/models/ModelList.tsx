import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { formatCount, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Table, type Column } from "@/components/Table";
import { Ago } from "@/components/Time";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import styles from "./Models.module.css";
import { descriptionOf, stageLook } from "./models";
import { Register } from "./RegisterDialog";

type Row = Answer<"list_model_names">["models"][number];

const address = (name: string) => `/models/${encodeURIComponent(name)}`;

const COLUMNS: Column<Row>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(11rem, 2fr)",
    isSticky: true,
    cell: (row) => (
      <Link to={address(row.name)} className={styles.name}>
        {row.name}
      </Link>
    ),
  },
  { id: "latest", title: "Latest", width: "5rem", align: "right", cell: (row) => row.latest?.version ?? "–" },
  { id: "stage", title: "Stage", width: "8rem", cell: (row) => <StageOf stage={row.latest?.stage} /> },
  { id: "aliases", title: "Aliases", width: "minmax(7rem, 1fr)", isExtra: true, cell: (row) => Object.entries(row.aliases).map(([alias, version]) => `${alias} → ${version}`).join(", ") || "–" },
  { id: "versions", title: "Versions", width: "6rem", align: "right", isExtra: true, cell: (row) => formatCount(row.versions) },
  { id: "description", title: "Description", width: "minmax(8rem, 2fr)", isExtra: true, cell: (row) => <span title={descriptionOf(row)}>{descriptionOf(row) || "–"}</span> },
  { id: "modified", title: "Changed", width: "7rem", cell: (row) => <Ago time={row.modified_utc} /> },
];

export function StageOf({ stage }: { stage: string | null | undefined }) {
  const look = stageLook(stage);
  return look ? <Pill {...look} /> : <>–</>;
}

/** All registered models, by name. */
export default function ModelList() {
  const asked = useQuery({ queryKey: keys.models("names"), queryFn: ({ signal }) => call("list_model_names", { signal }) });
  const [search, change] = useSearch();
  const isNarrow = useIsNarrow();
  const mayRegister = useMay("contributor");
  const text = (search.get("q") ?? "").toLowerCase();
  const rows = useMemo(() => (asked.data?.models ?? []).filter((row) => `${row.name} ${descriptionOf(row)} ${Object.entries(row.tags).flat().join(" ")}`.toLowerCase().includes(text)), [asked.data, text]);
  const total = asked.data?.models.length ?? 0;
  return (
    <>
      <header className={styles.head}>
        <h1>Models</h1>
        {total > 0 && <SearchInput className={styles.find} label="Name, tag or description" value={search.get("q") ?? ""} onChange={(event) => change({ q: event.target.value })} data-testid="models-search" />}
        {mayRegister && (
          <Button icon="plus" onClick={() => change({ register: "choose" })} data-testid="models-register">
            Register
          </Button>
        )}
      </header>
      <Card isFlush className={styles.card}>
        {asked.isPending && <Skeleton lines={6} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data && total === 0 && <NoModels />}
        {total > 0 && rows.length === 0 && (
          <EmptyState icon="search" title="No model has these words">
            <Button onClick={() => change({ q: null })}>Show all</Button>
          </EmptyState>
        )}
        {rows.length > 0 && (
          <Table
            label="Models"
            testId="models-table"
            columns={isNarrow ? COLUMNS.filter((column) => !column.isExtra) : COLUMNS}
            rows={rows}
            rowKey={(row) => row.name}
            onOpen={(row) => navigate(address(row.name))}
            foot={<span>{plural(rows.length, "model")}</span>}
          />
        )}
      </Card>
      {search.get("register") && mayRegister && <Register run={search.get("register") ?? ""} onRun={(id) => change({ register: id })} onClose={() => change({ register: null })} />}
    </>
  );
}

function NoModels() {
  return (
    <EmptyState icon="model" title="No models yet">
      <p>Register what a run has left in its outputs, here with the button above, or in Python:</p>
      <pre>
        <code>{'model = run.register_model("birds", "outputs/model.pt")'}</code>
      </pre>
    </EmptyState>
  );
}
