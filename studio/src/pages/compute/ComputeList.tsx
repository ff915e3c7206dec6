import { useQuery } from "@tanstack/react-query";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { ErrorNotice } from "@/components/ErrorNotice";
import { plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import styles from "./Compute.module.css";
import { CreateDialog } from "./CreateDialog";
import { busyNodes, engineWord, sizeWords, statesWords } from "./targets";

type Target = Answer<"list_compute">["compute"][number];

/** Where runs can go: every target with its nodes, what runs there and what waits. */
export default function ComputeList() {
  const asked = useQuery({ queryKey: keys.compute("list"), queryFn: ({ signal }) => call("list_compute", { signal }) });
  const isOwner = useMay("owner");
  const [search, change] = useSearch();
  if (asked.isPending) return <Skeleton lines={6} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  return (
    <>
      <header className={styles.head}>
        <h1>Compute</h1>
        {isOwner && (
          <Button variant="primary" icon="plus" onClick={() => change({ new: "yes" })} data-testid="compute-new">
            Create
          </Button>
        )}
      </header>
      <ul className={styles.grid} data-testid="compute-list">
        {asked.data.compute.map((target) => (
          <li key={target.name} data-row={target.name}>
            <TargetCard target={target} />
          </li>
        ))}
      </ul>
      <AttachHints />
      {search.get("new") && isOwner && <CreateDialog onClose={() => change({ new: null })} />}
    </>
  );
}

function TargetCard({ target }: { target: Target }) {
  const busy = busyNodes(target);
  return (
    <article className={styles.target}>
      <div className={styles.first}>
        <Link to={`/compute/${encodeURIComponent(target.name)}`} className={styles.name}>
          {target.name}
        </Link>
        <TargetState target={target} />
      </div>
      <p className={styles.about}>
        {engineWord(target)} · {sizeWords(target)}
        {target.spec.vm_priority === "lowpriority" && " · low priority"}
      </p>
      {target.kind !== "local" && target.max_nodes > 0 && target.max_nodes < 100_000 && (
        <meter className={styles.meter} min={0} max={target.max_nodes} value={busy} aria-label={`${busy} of ${target.max_nodes} nodes busy`} />
      )}
      <p className={styles.about}>
        {plural(target.running_runs, "run")} now
        {target.queued_runs > 0 && ` · ${target.queued_runs} waiting`}
        {target.kind !== "local" && ` · nodes: ${statesWords(target.node_states)}`}
      </p>
      {target.problem && (
        <p className={styles.problem}>
          <Words text={target.problem} />
        </p>
      )}
    </article>
  );
}

export function TargetState({ target }: { target: Pick<Target, "problem" | "running_runs" | "queued_runs"> }) {
  if (target.problem) return <Pill word="Problem" tone="bad" icon="failed" title={target.problem} />;
  if (target.running_runs > 0) return <Pill word="Busy" tone="busy" icon="running" />;
  if (target.queued_runs > 0) return <Pill word="Waiting" tone="warn" icon="waiting" />;
  return <Pill word="Idle" tone="good" icon="completed" />;
}

const HINTS = [
  ["Your own machines, over SSH", "rookery compute attach ssh ann@gpu1 ann@gpu2 --name gpus"],
  ["A Ray cluster that is there", "rookery compute attach ray head:6379"],
  ["The Slurm whose commands this keeper's machine has", "rookery compute attach slurm --partition gpu"],
] as const;

/** Other machines are attached from a terminal: keys and tokens of theirs do not go through a browser. */
function AttachHints() {
  return (
    <Card title="Attach machines that are there already" testId="compute-attach">
      <ul className={styles.hints}>
        {HINTS.map(([words, command]) => (
          <li key={command}>
            <p>{words}</p>
            <span className={styles.first}>
              <code>{command}</code>
              <CopyButton text={command} label={`Copy the command: ${words}`} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
