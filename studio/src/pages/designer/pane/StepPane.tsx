import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, type ReactNode } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Facts } from "@/components/Card";
import { classes } from "@/components/classes";
import { EmptyState } from "@/components/EmptyState";
import { ErrorBoundary } from "@/components/ErrorBoundary";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { isOver, StatusPill } from "@/components/StatusPill";
import { Tabs } from "@/components/Tabs";
import { Elapsed } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { Words } from "@/components/Words";
import { CauseCard } from "@/pages/run/CauseCard";
import type { Overview } from "@/pages/run/tabs";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { retryStep } from "../asks";
import styles from "../Designer.module.css";
import { titleOf, type Catalog, type Graph } from "../graph/model";
import type { Step } from "../graph/steps";
import { NodePane, PaneHead } from "./NodePane";
import { StepOutputs } from "./StepOutputs";

const MetricsTab = lazy(() => import("@/pages/run/metrics/MetricsTab"));
const LogsTab = lazy(() => import("@/pages/run/logs/LogsTab"));

interface Props {
  pipeline: string;
  graph: Graph;
  id: string;
  step: Step | null;
  catalog: Catalog;
  onClose: () => void;
}

/** One module of a run: how it is, and the parts of an ordinary run's page: metrics, logs, outputs. */
export function StepPane({ pipeline, graph, id, step, catalog, onClose }: Props) {
  const [search, change] = useSearch();
  const node = graph.nodes[id];
  if (!node) return null;
  const title = titleOf(node, catalog);
  const tab = search.get("tab") ?? "details";
  const run = step?.run_id ?? step?.reused_from ?? null;
  const select = (next: string) => change({ ...Object.fromEntries([...search.keys()].map((key) => [key, null])), node: id, tab: next === "details" ? null : next });
  return (
    <aside className={classes(styles.pane, styles.isWide)} aria-label={title} data-testid="designer-pane">
      <PaneHead title={title} onClose={onClose} />
      <div className={styles.paneBody} tabIndex={0} role="region" aria-label={`About ${title}`}>
        <Tabs
          label="Parts of this module"
          selected={tab}
          onSelect={select}
          tabs={[
            { id: "details", label: "Details", content: () => <Details pipeline={pipeline} id={id} step={step} run={run} /> },
            { id: "metrics", label: "Metrics", content: () => <OfRun run={run}>{(overview) => <MetricsTab run={overview.run} overview={overview} />}</OfRun> },
            { id: "outputs", label: "Outputs", content: () => <StepOutputs graph={graph} id={id} step={step} run={run} catalog={catalog} /> },
            { id: "logs", label: "Logs", content: () => <OfRun run={run}>{(overview) => <LogsTab run={overview.run} overview={overview} />}</OfRun> },
            { id: "parameters", label: "Parameters", content: () => <NodePane graph={graph} id={id} node={node} catalog={catalog} problems={[]} apply={null} /> },
          ]}
        />
      </div>
    </aside>
  );
}

function useOverview(run: string | null) {
  return useQuery({ queryKey: keys.run(run ?? "", "overview"), queryFn: ({ signal }) => call("get_overview", { path: { run_id: run ?? "" }, signal }), enabled: run !== null });
}

function OfRun({ run, children }: { run: string | null; children: (overview: Overview) => ReactNode }) {
  const asked = useOverview(run);
  if (run === null) {
    return (
      <EmptyState icon="waiting" title="It has not run yet">
        <p>It begins as soon as what feeds it is there.</p>
      </EmptyState>
    );
  }
  if (asked.data) {
    return (
      <ErrorBoundary resetKey={run}>
        <Suspense fallback={<Skeleton lines={6} />}>{children(asked.data)}</Suspense>
      </ErrorBoundary>
    );
  }
  return asked.error ? <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} /> : <Skeleton lines={6} />;
}

function Details({ pipeline, id, step, run }: { pipeline: string; id: string; step: Step | null; run: string | null }) {
  const client = useQueryClient();
  const mayEdit = useMay("contributor");
  const asked = useOverview(run);
  const retry = useMutation({
    mutationFn: () => retryStep(pipeline, id),
    onError: toastError,
    onSuccess: () => {
      toast("It is tried again, and what comes after it");
      void client.invalidateQueries({ queryKey: keys.run(pipeline) });
    },
  });
  if (!step) return <p className={styles.about}>This is not run: it is data that others read.</p>;
  const cause = asked.data?.run.error;
  return (
    <div className={styles.form}>
      <Facts
        facts={[
          ["Status", <StatusPill key="status" status={step.status} reason={step.reason} />],
          ...(step.reason && !cause ? [["Why", <Words key="why" text={step.reason} />] as const] : []),
          ...(step.reuse ? [["Reuse", <Words key="reuse" text={step.reuse} />] as const] : []),
          ...(step.started ? [["Took", <Elapsed key="took" start={step.started} end={step.ended} />] as const] : []),
          ...(run ? [["Run", <Link key="run" to={`/runs/${encodeURIComponent(run)}`} title={run}>{asked.data?.run.display_name || run}</Link>] as const] : []),
          ...(step.reused_from ? [["Reused from", <Link key="from" to={`/runs/${encodeURIComponent(step.reused_from)}`} title={step.reused_from}>an earlier run</Link>] as const] : []),
        ]}
      />
      {cause && asked.data && <CauseCard cause={cause} run={asked.data.run} isOpen />}
      {mayEdit && isOver(step.status) && step.status !== "Completed" && (
        <span>
          <Button icon="again" isBusy={retry.isPending} onClick={() => retry.mutate()} data-testid="designer-retry">
            Try this module again
          </Button>
        </span>
      )}
    </div>
  );
}
