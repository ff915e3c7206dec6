import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Endpoint } from "@/api/types";
import { Card, Facts } from "@/components/Card";
import { CopyButton } from "@/components/CopyButton";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Tags } from "@/components/Tags";
import { Ago } from "@/components/Time";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { ConsumeCard } from "./ConsumeCard";
import { EndpointActions } from "./EndpointActions";
import { EndpointState } from "./EndpointList";
import styles from "./Endpoints.module.css";
import { KIND_WORDS, underWay } from "./endpoints";
import { KeysCard } from "./KeysCard";
import { LatencyCard } from "./LatencyCard";
import { LogCard } from "./LogCard";
import { TryCard } from "./TryCard";
import { VersionsCard } from "./VersionsCard";

/** One endpoint: try it, how quick it answers, its versions and their share, its log, how to ask it from elsewhere. */
export default function EndpointPage({ params }: PageProps) {
  const name = params.name ?? "";
  const asked = useQuery({ queryKey: keys.endpoints("one", name), queryFn: ({ signal }) => call("get_endpoint", { path: { name }, signal }), placeholderData: (before) => before, refetchInterval: 15_000 }); // how often it was asked is no event
  const mayChange = useMay("contributor");
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data) {
    if (!toApiError(asked.error).isNotFound) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
    return (
      <EmptyState icon="endpoint" title={`There is no endpoint '${name}'`}>
        <p>
          It may have been taken down. See <Link to="/endpoints">those that are there</Link>.
        </p>
      </EmptyState>
    );
  }
  const endpoint = asked.data;
  return (
    <>
      <header className={styles.head} data-testid="endpoint-head">
        <h1>{endpoint.name}</h1>
        <EndpointState state={endpoint.state} />
        {mayChange && <EndpointActions endpoint={endpoint} />}
      </header>
      <Now endpoint={endpoint} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <TryCard endpoint={endpoint} />
          <LatencyCard name={endpoint.name} />
          <LogCard endpoint={endpoint} />
        </div>
        <div className={styles.column}>
          <Card title="About" testId="endpoint-about">
            {endpoint.description && <p className={styles.text}>{endpoint.description}</p>}
            <Facts
              facts={[
                ["Address", <Copied key="address" text={endpoint.scoring_uri} label="Copy the address" />],
                ["Swagger", <Copied key="swagger" text={endpoint.swagger_uri} label="Copy the address of its description" />],
                ["Kind", endpoint.kind === "local" ? "Local" : `${KIND_WORDS[endpoint.kind] ?? endpoint.kind}, served by the keeper's machine`],
                ["Opened by", endpoint.auth_enabled ? "a key" : endpoint.token_auth_enabled ? "a token" : "whoever reaches it"],
                ...(endpoint.properties.pipeline ? [["Pipeline", <Pipeline key="pipeline" properties={endpoint.properties} />] as const] : []),
                ["Requests", endpoint.requests === 0 ? "none yet" : endpoint.errors === 0 ? formatCount(endpoint.requests) : `${formatCount(endpoint.requests)}, of which ${formatCount(endpoint.errors)} failed`],
                ["Created", <Ago key="created" time={endpoint.created_utc} />],
                ["Changed", <Ago key="updated" time={endpoint.updated_utc} />],
                ...(Object.keys(endpoint.tags).length > 0 ? [["Tags", <Tags key="tags" tags={endpoint.tags} />] as const] : []),
              ]}
            />
          </Card>
          <VersionsCard endpoint={endpoint} mayChange={mayChange} />
          {mayChange && <KeysCard endpoint={endpoint} />}
          <ConsumeCard endpoint={endpoint} />
        </div>
      </div>
    </>
  );
}

/** What is under way, and what has failed. */
function Now({ endpoint }: { endpoint: Endpoint }) {
  const busy = underWay(endpoint);
  const failed = endpoint.operation?.state === "Failed" ? endpoint.operation : null;
  const error = failed?.error ?? endpoint.error;
  return (
    <>
      {busy && (
        <p className={styles.busy} role="status" data-testid="endpoint-now">
          {busy}
        </p>
      )}
      {error && (
        <div className={styles.failure} data-testid="endpoint-failure" role="alert">
          <strong>{failed && endpoint.state === "Healthy" ? `The last ${failed.kind} failed; what was there before goes on answering` : "It does not answer as it should"}</strong>
          <p>{error.summary}</p>
          {error.last_lines.length > 0 && <pre className={styles.lines}>{error.last_lines.join("\n")}</pre>}
        </div>
      )}
    </>
  );
}

/** Deployed from the designer: its name, and the training that it came from. */
function Pipeline({ properties }: { properties: Endpoint["properties"] }) {
  const name = String(properties.pipeline);
  return properties.training_run ? <Link to={`/designer/runs/${encodeURIComponent(String(properties.training_run))}`}>{name}</Link> : <>{name}</>;
}

function Copied({ text, label }: { text: string; label: string }) {
  return (
    <span className={styles.copied}>
      <code>
        {text.split(/(?<=[^/]\/)(?!\/)/).map((part, index) => (
          <Fragment key={index}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </code>
      <CopyButton text={text} label={label} />
    </span>
  );
}
