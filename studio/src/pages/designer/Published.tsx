import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { classes } from "@/components/classes";
import { CopyButton } from "@/components/CopyButton";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import { toastError } from "@/components/toasts";
import { listPipelineEndpoints, listPublished, setPublishedStatus, type PublishedPipeline } from "./asks";
import styles from "./Designer.module.css";

/** Published pipelines and the endpoints that they are versions of. */
export function Published() {
  const pipelines = useQuery({ queryKey: ["published", "pipelines"], queryFn: ({ signal }) => listPublished(signal) });
  const endpoints = useQuery({ queryKey: ["published", "endpoints"], queryFn: ({ signal }) => listPipelineEndpoints(signal) });
  if (pipelines.isPending) return <Skeleton lines={4} />;
  if (!pipelines.data) return <ErrorNotice error={pipelines.error} onRetry={() => void pipelines.refetch()} />;
  if (pipelines.data.length === 0) {
    return (
      <Card>
        <EmptyState icon="endpoint" title="Nothing is published">
          <p>Open a draft, and choose Publish from its menu: it gets an address that starts it.</p>
        </EmptyState>
      </Card>
    );
  }
  const ofPipeline = (id: string) => (endpoints.data ?? []).flatMap((each) => each.versions.filter((version) => version.pipeline_id === id).map((version) => `${each.name}, version ${version.version}${version.version === each.default_version ? " (default)" : ""}`));
  return (
    <Card isFlush>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Published pipelines">
        <table className={classes(styles.compare, styles.middle)} data-testid="designer-published">
          <thead>
            <tr>
              <th scope="col">Pipeline</th>
              <th scope="col">State</th>
              <th scope="col">Endpoint</th>
              <th scope="col">Address</th>
              <th scope="col">Published</th>
              <th scope="col">
                <span className="unseen">Do</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pipelines.data.map((each) => (
              <Row key={each.id} pipeline={each} endpoints={ofPipeline(each.id)} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Row({ pipeline, endpoints }: { pipeline: PublishedPipeline; endpoints: readonly string[] }) {
  const client = useQueryClient();
  const mayEdit = useMay("contributor");
  const isActive = pipeline.status === "Active";
  const toggle = useMutation({
    mutationFn: () => setPublishedStatus(pipeline.id, isActive ? "Disabled" : "Active"),
    onError: toastError,
    onSuccess: () => void client.invalidateQueries({ queryKey: ["published"] }),
  });
  return (
    <tr data-row={pipeline.id}>
      <th scope="row">{pipeline.name}</th>
      <td>
        <Pill word={pipeline.status} tone={isActive ? "good" : "idle"} icon={isActive ? "completed" : "canceled"} />
      </td>
      <td>{endpoints.join("; ") || "–"}</td>
      <td>
        <CopyButton text={pipeline.endpoint} label={`Copy the address of ${pipeline.name}`} />
      </td>
      <td>
        <Ago time={pipeline.created_utc} />
      </td>
      <td>
        {mayEdit && (
          <Button isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
            {isActive ? "Disable" : "Enable"}
          </Button>
        )}
      </td>
    </tr>
  );
}
