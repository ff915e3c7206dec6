import { CopyButton } from "@/components/CopyButton";
import { plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import { isOver, StatusPill } from "@/components/StatusPill";
import { Tags } from "@/components/Tags";
import { Ago, Elapsed } from "@/components/Time";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { RunActions } from "./RunActions";
import styles from "./RunPage.module.css";
import type { Overview } from "./tabs";

/** Name, status, where and since when, and what can be done with it. */
export function RunHead({ overview }: { overview: Overview }) {
  const { run, parent } = overview;
  const nodes = run.spec.node_count ?? 1;
  const ranks = nodes * (run.spec.processes_per_node ?? 1);
  return (
    <header className={styles.head}>
      <div className={styles.title}>
        <div className={styles.name}>
          <h1>{run.display_name || run.id}</h1>
          <StatusPill status={run.status} reason={run.reason} isStale={run.stale} />
          {overview.deleted_utc && <span className={styles.note}>in the bin</span>}
          {overview.archived && <span className={styles.note}>archived</span>}
        </div>
        <RunActions overview={overview} />
      </div>
      <p className={styles.about}>
        <Link to={`/experiments/${encodeURIComponent(run.experiment)}`}>{run.experiment}</Link>
        <span>
          run {run.number}
          {run.attempt > 1 && `, attempt ${run.attempt}`}
        </span>
        <span>
          on {run.compute}
          {nodes > 1 && `, ${plural(nodes, "node")}`}
          {ranks > 1 && `, ${plural(ranks, "rank")}`}
        </span>
        <span>
          submitted <Ago time={run.created_utc} /> by {run.submitted_by}
        </span>
        {run.started_utc && (
          <span>
            {run.ended_utc ? "ran for " : "running for "}
            <Elapsed start={run.started_utc} end={run.ended_utc} />
          </span>
        )}
        <span className={styles.id}>
          <code>{run.id}</code>
          <CopyButton text={run.id} label="Copy the run's id" />
        </span>
        {parent && (
          <span>
            part of <Link to={`/runs/${encodeURIComponent(parent.id)}`}>{parent.display_name || parent.id}</Link>
          </span>
        )}
      </p>
      {!isOver(run.status) && run.reason && (
        <p className={styles.reason} data-testid="run-reason">
          <Icon name="waiting" />
          <span>
            <Words text={run.reason} />
          </span>
        </p>
      )}
      {Object.keys(run.tags).length > 0 && <Tags tags={run.tags} />}
      {run.description && <p className={styles.description}>{run.description}</p>}
    </header>
  );
}
