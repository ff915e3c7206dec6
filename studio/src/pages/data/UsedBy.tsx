import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Dataset } from "@/api/types";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { StatusPill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import { Link } from "@/router/Link";
import styles from "./Data.module.css";
import { usedAs } from "./datasets";

/** Which runs had this version, or the same content under another name, and which one made it. */
export function UsedBy({ dataset }: { dataset: Dataset }) {
  const { name, version } = dataset;
  // Below "runs": whatever happens to a run may change this list.
  const asked = useQuery({ queryKey: keys.runs({ data: name, version }), queryFn: ({ signal }) => call("list_dataset_runs", { path: { name, version }, signal }) });
  const runs = asked.data?.runs ?? [];
  return (
    <Card title="Runs" isFlush testId="data-runs">
      {asked.isPending && <Skeleton lines={2} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && runs.length === 0 && (
        <p className={styles.note}>
          No run has used this version yet. In a script: <code>{`Dataset.get_by_name(ws, "${name}").as_named_input("data").as_mount()`}</code>
        </p>
      )}
      {runs.length > 0 && (
        <ul className={styles.runs} tabIndex={0} aria-label="Runs that used or made it">
          {runs.map((run) => (
            <li key={`${run.run_id} ${run.direction} ${run.name}`} data-row={run.run_id}>
              <Link to={`/runs/${encodeURIComponent(run.run_id)}`} title={run.run_id}>
                {run.display_name || run.run_id}
              </Link>
              <span className={styles.about}>{usedAs(run)}</span>
              <StatusPill status={run.status} />
              <span className={styles.about}>
                <Ago time={run.created_utc} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
