import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, urlOf } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import type { Comparison } from "@/api/types";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { useSearch } from "@/router/location";
import type { ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { pictureAt, pictureRows, type PictureRow } from "./pictures";
import { Swatch } from "./RunChips";

/** Pictures of the same name, side by side: those that were logged, and those in the runs' outputs. */
export function Pictures({ runs }: { comparison: Comparison; runs: readonly ShownRun[] }) {
  const overviews = useQueries({ queries: runs.map((run) => ({ queryKey: keys.run(run.id, "overview"), queryFn: ({ signal }: { signal: AbortSignal }) => call("get_overview", { path: { run_id: run.id }, signal }) })) });
  const trees = useQueries({ queries: runs.map((run) => ({ queryKey: keys.run(run.id, "tree", "outputs"), queryFn: ({ signal }: { signal: AbortSignal }) => outputs(run.id, signal) })) });
  const failed = [...overviews, ...trees].find((each) => each.error && !each.data);
  if (failed) return <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />;
  if (overviews.some((each) => !each.data) || trees.some((each) => !each.data)) return <Skeleton lines={6} />;
  const rows = pictureRows(runs.map((_, index) => ({ metrics: overviews[index]?.data?.metrics ?? [], files: trees[index]?.data?.files ?? [] })));
  if (rows.length === 0) {
    return (
      <EmptyState icon="image" title="These runs have no pictures">
        <p>
          Pictures that a script logs with <code>run.log_image</code>, or writes as PNG or JPEG to <code>outputs/</code>, are shown side by side here.
        </p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.part} data-testid="compare-pictures">
      {rows.slice(0, 50).map((row) => (
        <Row key={row.key} row={row} runs={runs} />
      ))}
    </div>
  );
}

function Row({ row, runs }: { row: PictureRow; runs: readonly ShownRun[] }) {
  const [search, change] = useSearch();
  const most = Math.max(...row.totals);
  const told = search.get("at");
  const wanted = told === null || !Number.isFinite(Number(told)) ? null : Number(told) - 1;
  const at = pictureAt(most, wanted);
  return (
    <Card
      title={row.label}
      actions={
        most > 1 && (
          <label className={styles.pager}>
            <span className="numbers">
              {at + 1} of {most}
            </span>
            <input type="range" min={1} max={most} value={at + 1} aria-label={`Which of ${row.label}`} onChange={(event) => change({ at: event.target.value })} />
          </label>
        )
      }
    >
      <div className={styles.pictures}>
        {runs.map((run, index) => {
          const total = row.totals[index] ?? 0;
          return (
            <figure key={run.id} data-row={run.id}>
              <figcaption>
                <Swatch run={run} /> <span>{run.label}</span>
              </figcaption>
              {total === 0 ? <p className={styles.none}>It has none.</p> : row.kind === "file" ? <Picture run={run.id} artifact={row.label} label={`${row.label} of ${run.label}`} /> : <Logged run={run} name={row.label} at={pictureAt(total, wanted)} />}
            </figure>
          );
        })}
      </div>
    </Card>
  );
}

function Logged({ run, name, at }: { run: ShownRun; name: string; at: number }) {
  const asked = useQuery({
    queryKey: keys.run(run.id, "items", name, at, 1),
    queryFn: ({ signal }) => call("get_items", { path: { run_id: run.id }, query: { name, start: at, limit: 1 }, signal }),
    placeholderData: (before) => before,
  });
  const item = asked.data?.items?.[0];
  if (!asked.data) return asked.error ? <p className={styles.none}>{toApiError(asked.error).message}</p> : <Skeleton lines={3} />;
  const artifact = typeof item === "object" && item !== null && "artifact" in item ? String(item.artifact) : null;
  return artifact ? <Picture key={artifact} run={run.id} artifact={artifact} label={`${name} of ${run.label}`} /> : <p className={styles.none}>It cannot be shown.</p>;
}

function Picture({ run, artifact, label }: { run: string; artifact: string; label: string }) {
  const [isBroken, setBroken] = useState(false);
  const url = urlOf("get_picture", { run_id: run, name: artifact });
  if (isBroken) return <p className={styles.none}>It cannot be shown.</p>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      <img src={url} alt={label} loading="lazy" decoding="async" onError={() => setBroken(true)} />
    </a>
  );
}

/** A run without outputs has no such folder, which is no error here. */
async function outputs(run: string, signal: AbortSignal) {
  try {
    return await call("list_tree", { path: { run_id: run }, query: { path: "outputs" }, signal });
  } catch (error) {
    if (toApiError(error).isNotFound) return { path: "outputs", folders: [], files: [], more: false };
    throw error;
  }
}
