import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Table, type Column } from "@/components/Table";
import { Ago } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import styles from "./Environments.module.css";

type Row = Answer<"list_built_environments">["environments"][number];

const address = (key: string) => `/environments/built/${encodeURIComponent(key)}`;

const COLUMNS: Column<Row>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(11rem, 2fr)",
    isSticky: true,
    cell: (row) => (
      <Link to={address(row.key)} className={styles.name}>
        {row.name || row.key.slice(0, 12)}
      </Link>
    ),
  },
  { id: "key", title: "Key", width: "9rem", isExtra: true, cell: (row) => <code>{row.key.slice(0, 12)}</code> },
  { id: "python", title: "Python", width: "6rem", isExtra: true, cell: (row) => row.python_version },
  { id: "packages", title: "Packages", width: "6rem", align: "right", isExtra: true, cell: (row) => row.num_packages },
  { id: "own", title: "Own", label: "Goes when it goes", width: "6rem", align: "right", cell: (row) => formatBytes(row.own_bytes) },
  { id: "shared", title: "Shared", label: "Held by others or the cache too", width: "6rem", align: "right", isExtra: true, cell: (row) => formatBytes(row.shared_bytes) },
  { id: "used", title: "Used", width: "7rem", cell: (row) => <Ago time={row.last_used_utc} /> },
  { id: "by", title: "In use by", width: "minmax(7rem, 1fr)", isExtra: true, cell: (row) => (row.in_use_by.length ? plural(row.in_use_by.length, "run") : "–") },
];

/** What is built on the keeper's machine, with its disk use; what no run uses can be removed. */
export function BuiltList({ text }: { text: string }) {
  // Sizes take a while: the list comes first, and they when they are measured.
  const quick = useQuery({ queryKey: keys.environments("built"), queryFn: ({ signal }) => call("list_built_environments", { query: { measure: false }, signal }) });
  const measured = useQuery({ queryKey: keys.environments("built", "sizes"), queryFn: ({ signal }) => call("list_built_environments", { query: { measure: true }, signal }), staleTime: 60_000, enabled: (quick.data?.environments.length ?? 0) > 0 });
  const isNarrow = useIsNarrow();
  const isOwner = useMay("owner");
  const [isPruning, setPruning] = useState(false);
  const rows = useMemo(() => {
    const sizes = new Map((measured.data?.environments ?? []).map((each) => [each.key, each]));
    const all = (quick.data?.environments ?? []).map((each) => sizes.get(each.key) ?? each);
    return all.filter((row) => `${row.name} ${row.key}`.toLowerCase().includes(text.toLowerCase()));
  }, [quick.data, measured.data, text]);
  if (quick.isPending) return <Skeleton lines={6} />;
  if (!quick.data) return <ErrorNotice error={quick.error} onRetry={() => void quick.refetch()} />;
  const own = rows.reduce((sum, row) => sum + (row.own_bytes ?? 0), 0);
  return (
    <>
      <Card isFlush className={styles.card}>
        {rows.length === 0 ? (
          <EmptyState icon="disk" title={text ? "None has these words" : "Nothing is built yet"}>
            <p>An environment is built when the first run needs it, and kept for the next ones. To build one now:</p>
            <pre>
              <code>{"rookery env build environment.yml"}</code>
            </pre>
          </EmptyState>
        ) : (
          <Table
            label="Built environments"
            testId="environments-built"
            columns={isNarrow ? COLUMNS.filter((column) => !column.isExtra) : COLUMNS}
            rows={rows}
            rowKey={(row) => row.key}
            onOpen={(row) => navigate(address(row.key))}
            maxHeight="70vh"
            foot={
              <>
                <span>
                  {plural(rows.length, "environment")}
                  {measured.data ? `, ${formatBytes(own)} of their own` : ", measuring their sizes…"}
                </span>
                {isOwner && (
                  <Button variant="quiet" icon="trash" onClick={() => setPruning(true)} data-testid="environments-prune">
                    Remove unused
                  </Button>
                )}
              </>
            }
          />
        )}
      </Card>
      {isPruning && <PruneDialog onClose={() => setPruning(false)} />}
    </>
  );
}

function PruneDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const plan = useQuery({ queryKey: keys.environments("prune"), queryFn: ({ signal }) => call("prune_built_environments", { body: { dry_run: true }, signal }), gcTime: 0, staleTime: 0 });
  const prune = useMutation({
    mutationFn: () => call("prune_built_environments", { body: { keys: (plan.data?.removed ?? []).map((each) => each.key) } }),
    onError: toastError,
    onSuccess: (told) => {
      void client.invalidateQueries({ queryKey: keys.environments() });
      toast(`${formatBytes(told.freed_bytes)} are free again`);
      onClose();
    },
  });
  const count = plan.data?.removed.length ?? 0;
  return (
    <Confirm title="Remove what no run uses?" verb={`Remove ${plural(count, "environment")}`} isDangerous isBusy={prune.isPending || count === 0} onConfirm={() => prune.mutate()} onClose={onClose}>
      {plan.isPending && <Skeleton lines={3} />}
      {plan.error && !plan.data && <ErrorNotice error={plan.error} onRetry={() => void plan.refetch()} />}
      {plan.data && (
        <p>
          {count === 0 ? "There is nothing to remove." : `${formatBytes(plan.data.freed_bytes)} would be freed. A run that needs one of them builds it again.`}
          {plan.data.kept.length > 0 && ` ${plural(plan.data.kept.length, "environment")} in use stay.`}
        </p>
      )}
    </Confirm>
  );
}
