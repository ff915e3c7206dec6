import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Environment } from "@/api/types";
import { Button } from "@/components/Button";
import { Card, Facts } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatTime } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { toastError } from "@/components/toasts";
import { RunList } from "@/pages/home/RunList";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { BuildCard } from "./BuildCard";
import { contentsOf, toSpec, type Contents } from "./contents";
import styles from "./Environments.module.css";

/** One environment: versions, what it asks for, runs that used it, and a build of it with its log. */
export default function EnvironmentPage({ params }: PageProps) {
  const name = params.name ?? "";
  const [search, change] = useSearch();
  const asked = useQuery({ queryKey: keys.environments("versions", name), queryFn: ({ signal }) => call("list_environments", { query: { name }, signal }) });
  if (asked.isPending) return <Skeleton lines={8} />;
  const versions = asked.data?.environments ?? [];
  if (!asked.data && !toApiError(asked.error).isNotFound) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const wanted = search.get("version");
  const shown = wanted === null ? versions[0] : versions.find((each) => each.version === wanted);
  if (!shown) {
    return (
      <EmptyState icon="environment" title={`There is no environment '${name}'${wanted && versions.length ? ` of version ${wanted}` : ""}`}>
        <p>
          Runs may use environments that were never registered. See <Link to="/environments">those that are known by name</Link>, or <Link to="/environments?view=built">those that are built</Link>.
        </p>
      </EmptyState>
    );
  }
  const build = search.get("build");
  return (
    <>
      <header className={styles.head}>
        <h1>{name}</h1>
        <BuildButton environment={shown} onStarted={(id) => change({ build: id })} />
      </header>
      {versions.length > 1 && (
        <ul className={styles.versions} aria-label="Versions" data-testid="environment-versions">
          {versions.map((each) => (
            <li key={each.version}>
              <Link to={`/environments/${encodeURIComponent(name)}?version=${encodeURIComponent(each.version)}`} className={styles.version} aria-current={each === shown || undefined}>
                Version {each.version}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className={styles.columns}>
        <div className={styles.column}>
          {build && <BuildCard key={build} id={build} onClose={() => change({ build: null })} />}
          <ContentsCard contents={contentsOf(shown.definition)} />
        </div>
        <div className={styles.column}>
          <About environment={shown} />
          <Runs name={name} version={shown.curated ? null : shown.version} />
        </div>
      </div>
    </>
  );
}

function BuildButton({ environment, onStarted }: { environment: Environment; onStarted: (id: string) => void }) {
  const client = useQueryClient();
  const mayBuild = useMay("contributor");
  const start = useMutation({
    mutationFn: () => call("start_build", { body: { spec: toSpec(environment.name, environment.version, environment.definition) } }),
    onError: toastError,
    onSuccess: (build) => {
      void client.invalidateQueries({ queryKey: keys.environments("built") });
      onStarted(build.id);
    },
  });
  const contents = contentsOf(environment.definition);
  if (!mayBuild || contents.userManaged !== null || contents.conda.length + contents.pip.length === 0) return null;
  return (
    <Button icon="play" isBusy={start.isPending} onClick={() => start.mutate()} data-testid="environment-build">
      Build now
    </Button>
  );
}

function About({ environment }: { environment: Environment }) {
  const mapsTo = typeof environment.maps_to === "string" ? environment.maps_to : "";
  return (
    <Card title="About" testId="environment-about">
      <Facts
        facts={[
          ["Version", environment.version],
          ["Kind", environment.curated ? "curated: a name of old that is known here" : "registered"],
          ...(mapsTo ? [["Stands for", mapsTo] as const] : []),
          ...(environment.created_utc ? [["Registered", formatTime(environment.created_utc)] as const] : []),
          ...(environment.created_by ? [["By", environment.created_by] as const] : []),
          ...(environment.labels.length ? [["Labels", environment.labels.join(", ")] as const] : []),
        ]}
      />
    </Card>
  );
}

function ContentsCard({ contents }: { contents: Contents }) {
  const isEmpty = contents.conda.length + contents.pip.length === 0;
  return (
    <Card title="What it asks for" testId="environment-contents">
      {contents.userManaged !== null && (
        <p className={styles.about}>
          Managed by its user: <code>{contents.userManaged}</code> is taken as it is, nothing is built.
        </p>
      )}
      {contents.userManaged === null && isEmpty && <p className={styles.about}>No packages: runs have what Rookery itself runs with.</p>}
      <Packages title="conda" names={contents.conda} />
      <Packages title="pip" names={contents.pip} />
      <Packages title="Channels" names={contents.channels} />
      {contents.image && <Facts facts={[["Image", contents.image]]} />}
      {contents.variables.length > 0 && <Facts facts={contents.variables} />}
    </Card>
  );
}

function Packages({ title, names }: { title: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <>
      <h3 className={styles.sub}>{title}</h3>
      <ul className={styles.packages} tabIndex={0} aria-label={title}>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </>
  );
}

function Runs({ name, version }: { name: string; version: string | null }) {
  const asked = useQuery({ queryKey: keys.runs({ environment: name, version }), queryFn: ({ signal }) => call("list_environment_runs", { path: { name }, query: { version, limit: 20 }, signal }) });
  return (
    <Card title="Runs with it" isFlush testId="environment-runs">
      {asked.isPending && <Skeleton lines={3} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && <RunList runs={asked.data.runs} empty="No run has used it lately." isShort />}
    </Card>
  );
}
