import { Sparkline } from "@/charts/Sparkline";
import { formatNumber, plural } from "@/components/format";
import { StatusPill } from "@/components/StatusPill";
import { Ago, Elapsed } from "@/components/Time";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { shortCause } from "../run/cause";
import type { HomeAnswer } from "./Home";
import styles from "./Home.module.css";
import { progressOf } from "./progress";
import type { Logged } from "./useCurves";

type Brief = HomeAnswer["running"][number];

interface Props {
  runs: readonly Brief[];
  /** The second line: what it waits for, or why it failed. */
  shows?: "reason" | "cause";
  empty: string;
  isShort?: boolean;
  /** What they have logged, for those that run. */
  logged?: ReadonlyMap<string, Logged>;
}

export function RunList({ runs, shows, empty, isShort, logged }: Props) {
  if (runs.length === 0) return <p className={styles.empty}>{empty}</p>;
  return (
    <ul className={styles.runs}>
      {runs.map((run) => (
        <li key={run.id} className={styles.run} data-run={run.id}>
          <div className={styles.first}>
            <Link to={`/runs/${encodeURIComponent(run.id)}`} className={styles.name} title={run.id}>
              {run.display_name || run.id}
            </Link>
            <StatusPill status={run.status} reason={run.reason} isStale={run.stale} />
          </div>
          {shows === "reason" && run.reason && (
            <p className={styles.why}>
              <Words text={run.reason} />
            </p>
          )}
          {shows === "cause" && run.cause?.summary && (
            <p className={styles.cause} title={run.cause.summary}>
              {shortCause(firstLine(run.cause.summary))}
              <span className={styles.where}>{where(run)}</span>
            </p>
          )}
          {logged && <Live logged={logged.get(run.id)} />}
          <p className={styles.about}>
            <Link to={`/experiments/${encodeURIComponent(run.experiment)}`}>{run.experiment}</Link>
            {!isShort && ` · ${run.compute}`}
            {!isShort && run.node_count > 1 && ` · ${run.node_count} nodes`}
            {!isShort && run.num_children > 0 && ` · ${plural(run.num_children, "child run")}`}
            {!isShort && run.attempt > 1 && ` · attempt ${run.attempt}`}
            {" · "}
            {run.ended_utc ? <Ago time={run.ended_utc} /> : run.started_utc ? <Elapsed start={run.started_utc} end={null} /> : <Ago time={run.created_utc} />}
            {!isShort && ` · ${run.submitted_by}`}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The bar and the curve of a run that runs. */
function Live({ logged }: { logged: Logged | undefined }) {
  if (!logged) return null;
  const { run, name } = logged;
  const progress = progressOf(run);
  const series = name ? run.series?.[name] : undefined;
  if (!progress && !name) return null;
  return (
    <div className={styles.live} data-testid="home-live">
      {progress && (
        <span className={styles.progress}>
          <progress className={styles.bar} max={1} value={progress.share} aria-label={progress.words} />
          <span>{progress.words}</span>
        </span>
      )}
      {name && (
        <span className={styles.curve}>
          {series && series.x.length > 1 && <Sparkline xs={series.x} ys={series.y} label={`${name} over its steps`} width={120} height={22} />}
          <span className={styles.value}>
            {name} <b>{formatNumber(run.metrics[name], 4)}</b>
          </span>
        </span>
      )}
    </div>
  );
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim()) ?? text;
}

/** Which rank it was, where there are several. */
function where({ cause, node_count, processes_per_node }: Brief): string {
  if (node_count * processes_per_node < 2 || cause?.rank === null || cause?.rank === undefined) return "";
  return ` (rank ${cause.rank}${node_count > 1 && cause.node !== null ? `, node ${cause.node}` : ""})`;
}
