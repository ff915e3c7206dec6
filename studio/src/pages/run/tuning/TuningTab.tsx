import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Card, Facts } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatNumber, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { isOver } from "@/components/StatusPill";
import { Parallel } from "@/pages/compare/Parallel";
import { Link } from "@/router/Link";
import type { TabProps } from "../tabs";
import { LeaderBoard } from "./LeaderBoard";
import { distributionWords, paramName, policyWords, progressWords, ranked, shares, toParallel, words, type Tuning } from "./trials";
import styles from "./Tuning.module.css";

const COMPARED = 5;

/** A tuning: its children, the best first, live; which were stopped and why; how what was set went with what came out. */
export default function TuningTab({ run }: TabProps) {
  const asked = useQuery({ queryKey: keys.run(run.id, "tune"), queryFn: ({ signal }) => call("get_tuning", { path: { run_id: run.id }, signal }), placeholderData: (before) => before });
  if (asked.error && !asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (!asked.data) return <Skeleton lines={8} />;
  return <Loaded tuning={asked.data} />;
}

function Loaded({ tuning }: { tuning: Tuning }) {
  const rows = useMemo(() => ranked(tuning.trials), [tuning.trials]);
  const parallel = useMemo(() => toParallel(tuning), [tuning]);
  const best = rows.find((trial) => trial.rank === 1);
  const first = rows.filter((trial) => trial.rank !== null).slice(0, COMPARED);
  return (
    <div className={styles.tab} data-testid="tuning">
      <div className={styles.top}>
        <Card title={isOver(tuning.status) ? "Best" : "Best so far"} testId="tuning-best">
          {best ? (
            <>
              <p className={styles.best}>
                <span className={styles.metric}>{tuning.metric}</span>
                <strong data-testid="tuning-best-value">{formatNumber(best.best)}</strong>
              </p>
              <p className={styles.about}>
                <Link to={`/runs/${encodeURIComponent(best.run_id)}`}>Child {best.number}</Link>, at interval {best.best_at}: {words(best)}
              </p>
            </>
          ) : (
            <p className={styles.about}>No child has logged {tuning.metric} yet.</p>
          )}
          <p className={styles.about} role="status" data-testid="tuning-progress">
            {progressWords(tuning)}
          </p>
        </Card>
        <Card title="What mattered" testId="tuning-importance">
          <Importance tuning={tuning} />
        </Card>
        <Card title="Plan" testId="tuning-plan">
          <Facts
            facts={[
              ["Goal", `${tuning.goal} ${tuning.metric}`],
              ...Object.entries(tuning.space).map(([name, given]) => [paramName(name), <code key={name}>{distributionWords(given)}</code>] as const),
              ["Sampling", tuning.sampler],
              ["Early termination", policyWords(tuning)],
              ["Children", `${tuning.max_total_runs} at most, ${tuning.max_concurrent_runs} at a time`],
              ...(tuning.resume_from.length ? [["Goes on from", tuning.resume_from.map((id) => <Link key={id} to={`/runs/${encodeURIComponent(id)}`}>{id}</Link>)] as const] : []),
            ]}
          />
        </Card>
      </div>
      <Card
        title={`Leader board: ${plural(rows.length, "child", "children")}`}
        isFlush
        testId="tuning-board"
        actions={first.length > 1 ? <Link to={`/compare?runs=${first.map((trial) => encodeURIComponent(trial.run_id)).join(",")}`}>Compare the best {first.length}</Link> : undefined}
      >
        <LeaderBoard tuning={tuning} rows={rows} />
      </Card>
      {parallel.runs.length > 1 && (
        <Card title="Values and results" testId="tuning-parallel">
          <p className={styles.about}>Each line is a child; the best one has a colour of its own, dashed ones were stopped early.</p>
          <Parallel comparison={parallel.comparison} runs={parallel.runs} />
        </Card>
      )}
    </div>
  );
}

function Importance({ tuning }: { tuning: Tuning }) {
  const found = shares(tuning);
  if (found.length === 0) {
    return (
      <EmptyState icon="compare" title="Not known yet">
        <p>After four results or more: the share of the differences that each parameter explains.</p>
      </EmptyState>
    );
  }
  return (
    <ul className={styles.shares}>
      {found.map(({ name, share }) => (
        <li key={name}>
          <span>{name}</span>
          <span className={styles.bar} aria-hidden="true">
            <span style={{ width: `${Math.round(share * 100)}%` }} />
          </span>
          <span className={styles.share}>{Math.round(share * 100)} %</span>
        </li>
      ))}
    </ul>
  );
}
