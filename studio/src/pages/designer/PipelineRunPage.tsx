import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { isOver } from "@/components/StatusPill";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useTitle } from "@/router/title";
import { getPipelineRun } from "./asks";
import { RunView } from "./RunView";

/** How often steps are asked for besides at events: theirs name the step's run, not the pipeline's. */
const STEPS_MS = 3000;

/** A pipeline's run on the canvas, live. */
export default function PipelineRunPage({ params }: PageProps) {
  const id = params.id ?? "";
  const overview = useQuery({ queryKey: keys.run(id, "overview"), queryFn: ({ signal }) => call("get_overview", { path: { run_id: id }, signal }) });
  const status = overview.data?.run.status ?? "";
  const asked = useQuery({
    queryKey: keys.run(id, "pipeline", isOver(status)),
    queryFn: ({ signal }) => getPipelineRun(id, signal),
    placeholderData: (before) => before,
    refetchInterval: (query) => (isOver(query.state.data?.status ?? "") ? false : STEPS_MS),
  });
  useTitle(overview.data?.run.display_name);
  const error = overview.error ?? asked.error;
  if (overview.data && asked.data) {
    return (
      <ReactFlowProvider>
        <RunView key={id} run={overview.data.run} ran={asked.data} />
      </ReactFlowProvider>
    );
  }
  if (!error) return <Skeleton lines={8} />;
  if (toApiError(error).isNotFound) {
    return (
      <Card>
        <h1 className="unseen">Pipeline run</h1>
        <EmptyState icon="runs" title="There is no such run of a pipeline">
          <p>
            It may have been deleted, or be a run of another kind. <Link to="/designer?tab=runs">All runs of pipelines</Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <h1 className="unseen">Pipeline run</h1>
      <ErrorNotice error={error} onRetry={() => void Promise.all([overview.refetch(), asked.refetch()])} />
    </>
  );
}
