import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Card, Facts } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount, formatLimit, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Words } from "@/components/Words";
import { RunList } from "@/pages/home/RunList";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import styles from "./Compute.module.css";
import { TargetState } from "./ComputeList";
import { NodeList } from "./NodeList";
import { TargetActions } from "./TargetActions";
import { busyNodes, engineWord, sizeWords, statesWords } from "./targets";

/** One target: its nodes and what each does, what runs, what waits and for what; resize, preempt, check. */
export default function ComputePage({ params }: PageProps) {
  const name = params.name ?? "";
  const path = { name };
  const asked = useQuery({ queryKey: keys.compute(name), queryFn: ({ signal }) => call("get_compute", { path, signal }) });
  const nodes = useQuery({ queryKey: keys.compute(name, "nodes"), queryFn: ({ signal }) => call("list_nodes", { path, signal }), enabled: asked.isSuccess });
  const queue = useQuery({ queryKey: keys.compute(name, "queue"), queryFn: ({ signal }) => call("get_queue", { path, signal }), enabled: asked.isSuccess });
  const isOwner = useMay("owner");
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data) {
    if (!toApiError(asked.error).isNotFound) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
    return (
      <EmptyState icon="compute" title={`There is no compute target '${name}'`}>
        <p>
          It may have been deleted. See <Link to="/compute">those that are there</Link>.
        </p>
      </EmptyState>
    );
  }
  const target = asked.data;
  return (
    <>
      <header className={styles.head} data-testid="compute-head">
        <h1>{target.name}</h1>
        <TargetState target={target} />
        {isOwner && <TargetActions target={target} />}
      </header>
      {target.problem && <ErrorNotice title="It cannot be used now" error={new Error(target.problem)} />}
      {target.warnings.map((warning) => (
        <p key={warning} className={styles.warning}>
          <Words text={warning} />
        </p>
      ))}
      <div className={styles.columns}>
        <div className={styles.column}>
          <Card title="Running now" isFlush testId="compute-running">
            {queue.data ? <RunList runs={queue.data.running} empty="Nothing runs here now." /> : <Rest query={queue} />}
          </Card>
          <Card title="Waiting, and for what" isFlush testId="compute-waiting">
            {queue.data ? <RunList runs={queue.data.waiting} shows="reason" empty="Nothing waits for it." /> : <Rest query={queue} />}
            {queue.data?.more && <p className={styles.empty}>There are more; the list of runs has them all.</p>}
          </Card>
          <Card title="Nodes" isFlush testId="compute-nodes">
            {nodes.data ? <NodeList target={target} nodes={nodes.data.nodes} mayPreempt={isOwner} /> : <Rest query={nodes} />}
          </Card>
        </div>
        <div className={styles.column}>
          <Card title="About" testId="compute-about">
            <Facts facts={aboutFacts(target)} />
          </Card>
          <Card title="Use it" testId="compute-use">
            <pre>
              <code>{target.kind === "local" ? "rookery run train.py" : `rookery run --compute ${target.name} train.py`}</code>
            </pre>
          </Card>
        </div>
      </div>
    </>
  );
}

function Rest({ query }: { query: { error: unknown; refetch: () => unknown } }) {
  return query.error ? <ErrorNotice error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton lines={2} />;
}

type Shown = Parameters<typeof engineWord>[0] & Parameters<typeof sizeWords>[0] & { node_states: Record<string, number> };

function aboutFacts(target: Shown): [string, string][] {
  const { spec } = target;
  const facts: [string, string][] = [
    ["Engine", engineWord(target)],
    ["Size", sizeWords(target)],
  ];
  if (target.kind !== "local") {
    facts.push(["Busy", target.max_nodes < 100_000 ? `${formatCount(busyNodes(target))} of ${plural(target.max_nodes, "node")}` : plural(busyNodes(target), "node")]);
    facts.push(["States", statesWords(target.node_states)]);
    facts.push(["Priority", spec.vm_priority === "lowpriority" ? "low: nodes can be taken away" : "dedicated"]);
    if (spec.idle_seconds_before_scaledown !== undefined) facts.push(["Given up after", `${formatLimit(Number(spec.idle_seconds_before_scaledown))} idle`]);
  }
  if (spec.cpus_per_node) facts.push(["Cores per node", String(spec.cpus_per_node)]);
  if (spec.gpus_per_node) facts.push(["GPUs per node", String(spec.gpus_per_node)]);
  if (spec.vm_size) facts.push(["Size label", String(spec.vm_size)]);
  if (spec.description) facts.push(["Description", String(spec.description)]);
  for (const [name, value] of Object.entries((spec.tags ?? {}) as Record<string, string>)) facts.push([name, value]);
  return facts;
}
