import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Model } from "@/api/types";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Ago } from "@/components/Time";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { StageOf } from "./ModelList";
import { ModelFiles } from "./ModelFiles";
import styles from "./Models.module.css";
import { modelBytes } from "./models";
import { VersionCard } from "./VersionCard";

/** One model: its versions, and of the one chosen where it came from, what it is called, and what is in it. */
export default function ModelPage({ params }: PageProps) {
  const name = params.name ?? "";
  const [search] = useSearch();
  const asked = useQuery({ queryKey: keys.models("versions", name), queryFn: ({ signal }) => call("list_models", { query: { name }, signal }) });
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const versions = asked.data.models;
  const wanted = search.get("version");
  const shown = wanted === null ? versions[0] : versions.find((model) => String(model.version) === wanted);
  if (versions.length === 0) return <Missing name={name} words="It may have been deleted, or never registered." />;
  return (
    <>
      <header className={styles.head}>
        <h1>{name}</h1>
      </header>
      <div className={styles.columns}>
        <Card title={plural(versions.length, "version")} isFlush testId="model-versions">
          <ol className={styles.versions} tabIndex={0} aria-label="Versions, newest first">
            {versions.map((model) => (
              <li key={model.version} data-row={model.version}>
                <VersionLink model={model} isShown={model === shown} />
              </li>
            ))}
          </ol>
        </Card>
        {shown ? (
          <div className={styles.column} key={shown.version}>
            <VersionCard model={shown} />
            <ModelFiles model={shown} />
          </div>
        ) : (
          <Missing name={`${name}, version ${wanted}`} words="Choose another version." />
        )}
      </div>
    </>
  );
}

function VersionLink({ model, isShown }: { model: Model; isShown: boolean }) {
  return (
    <Link to={`/models/${encodeURIComponent(model.name)}?version=${model.version}`} className={styles.version} aria-current={isShown || undefined}>
      <span className={styles.first}>
        <strong>Version {model.version}</strong>
        {model.stage && model.stage !== "None" && <StageOf stage={model.stage} />}
      </span>
      {model.aliases.length > 0 && (
        <span className={styles.aliases}>
          {model.aliases.map((alias) => (
            <span key={alias} className={styles.alias}>
              @{alias}
            </span>
          ))}
        </span>
      )}
      <span className={styles.about}>
        <Ago time={model.created_utc} /> · {model.created_by} · {formatBytes(modelBytes(model))}
      </span>
    </Link>
  );
}

function Missing({ name, words }: { name: string; words: string }) {
  return (
    <EmptyState icon="model" title={`There is no model ${name}`}>
      <p>
        {words} See <Link to="/models">all models</Link>.
      </p>
    </EmptyState>
  );
}
