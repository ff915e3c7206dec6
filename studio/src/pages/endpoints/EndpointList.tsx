import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Endpoint } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { DeployDialog } from "./DeployDialog";
import styles from "./Endpoints.module.css";
import { KIND_WORDS, readyReplicas, stateLook, underWay, whatAnswers } from "./endpoints";

/** Models behind addresses: each with its state, its models, how much it is asked. */
export default function EndpointList() {
  const asked = useQuery({ queryKey: keys.endpoints("list"), queryFn: ({ signal }) => call("list_endpoints", { signal }) });
  const mayDeploy = useMay("contributor");
  const [search, change] = useSearch();
  if (asked.isPending) return <Skeleton lines={6} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const { endpoints } = asked.data;
  const deploying = search.get("deploy");
  return (
    <>
      <header className={styles.head}>
        <h1>Endpoints</h1>
        {mayDeploy && (
          <Button variant="primary" icon="plus" onClick={() => change({ deploy: "choose" })} data-testid="endpoints-deploy">
            Deploy a model
          </Button>
        )}
      </header>
      {endpoints.length === 0 ? (
        <Card>
          <EmptyState icon="endpoint" title="No model is behind an address yet">
            <p>
              Register a model, then put it behind an address: <code>rookery deploy MODEL</code>, <code>Model.deploy(…)</code>, or the button above.
            </p>
          </EmptyState>
        </Card>
      ) : (
        <ul className={styles.grid} data-testid="endpoints-list">
          {endpoints.map((endpoint) => (
            <li key={endpoint.name} data-row={endpoint.name}>
              <EndpointCard endpoint={endpoint} />
            </li>
          ))}
        </ul>
      )}
      {deploying && mayDeploy && <DeployDialog model={deploying === "choose" ? null : deploying} taken={endpoints.map((each) => each.name)} onClose={() => change({ deploy: null })} />}
    </>
  );
}

function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const busy = underWay(endpoint);
  const ready = endpoint.versions.reduce((sum, version) => sum + readyReplicas(version), 0);
  return (
    <article className={styles.tile}>
      <div className={styles.first}>
        <Link to={`/endpoints/${encodeURIComponent(endpoint.name)}`} className={styles.name}>
          {endpoint.name}
        </Link>
        <EndpointState state={endpoint.state} />
      </div>
      <p className={styles.about}>
        {whatAnswers(endpoint)} · {KIND_WORDS[endpoint.kind] ?? endpoint.kind}
        {endpoint.versions.length > 1 && ` · ${plural(endpoint.versions.length, "version")}`}
      </p>
      <p className={styles.about}>
        {plural(endpoint.requests, "request")}
        {endpoint.errors > 0 && `, ${formatCount(endpoint.errors)} failed`} · {plural(ready, "process", "processes")} · <Ago time={endpoint.updated_utc} />
      </p>
      {busy && <p className={styles.busy}>{busy}</p>}
      {endpoint.error && <p className={styles.problem}>{endpoint.error.summary}</p>}
    </article>
  );
}

export function EndpointState({ state }: { state: string }) {
  const look = stateLook(state);
  return <Pill word={look.word} tone={look.tone} icon={look.icon} title={look.says} />;
}
