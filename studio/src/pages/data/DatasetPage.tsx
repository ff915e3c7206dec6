import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Dataset } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Ago } from "@/components/Time";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import styles from "./Data.module.css";
import { datasetAddress } from "./datasets";
import { FolderView } from "./FolderView";
import { TableView } from "./TableView";
import { Upload } from "./Upload";
import { UsedBy } from "./UsedBy";
import { VersionCard } from "./VersionCard";

/** One data set: its versions, and of the one chosen what is in it and who used it. */
export default function DatasetPage({ params }: PageProps) {
  const name = params.name ?? "";
  const [search, change] = useSearch();
  const mayUpload = useMay("contributor");
  const asked = useQuery({ queryKey: keys.data("versions", name), queryFn: ({ signal }) => call("list_dataset_versions", { path: { name }, signal }) });
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data && toApiError(asked.error).isNotFound) return <Missing name={name} words="It may have been deleted, or never registered." />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const versions = asked.data.datasets;
  const wanted = search.get("version");
  const shown = wanted === null ? versions[0] : versions.find((each) => String(each.version) === wanted);
  return (
    <Upload isAsked={search.has("upload")} onClose={() => change({ upload: null })} name={name} mayUpload={mayUpload}>
      <header className={styles.head}>
        <h1>{name}</h1>
        {mayUpload && (
          <Button icon="plus" onClick={() => change({ upload: "yes" })} data-testid="data-new-version">
            New version
          </Button>
        )}
      </header>
      <div className={styles.columns}>
        <Card title={plural(versions.length, "version")} isFlush testId="data-versions">
          <ol className={styles.versions} tabIndex={0} aria-label="Versions, newest first">
            {versions.map((each) => (
              <li key={each.version} data-row={each.version}>
                <VersionLink dataset={each} isShown={each === shown} />
              </li>
            ))}
          </ol>
        </Card>
        {shown ? (
          <div className={styles.column} key={shown.version}>
            <VersionCard dataset={shown} isOnly={versions.length === 1} />
            {shown.kind === "tabular" ? <TableView dataset={shown} /> : <FolderView dataset={shown} />}
            <UsedBy dataset={shown} />
          </div>
        ) : (
          <Missing name={`${name}, version ${wanted}`} words="Choose another version." />
        )}
      </div>
    </Upload>
  );
}

function VersionLink({ dataset, isShown }: { dataset: Dataset; isShown: boolean }) {
  return (
    <Link to={datasetAddress(dataset.name, dataset.version)} className={styles.version} aria-current={isShown || undefined}>
      <strong>Version {dataset.version}</strong>
      <span className={styles.about}>
        {plural(dataset.files, "file")} · {formatBytes(dataset.bytes)}
        {dataset.used_by_runs > 0 && ` · ${plural(dataset.used_by_runs, "run")}`}
      </span>
      <span className={styles.about}>
        <Ago time={dataset.created_utc} /> · {dataset.created_by}
      </span>
    </Link>
  );
}

function Missing({ name, words }: { name: string; words: string }) {
  return (
    <>
      <h1 className="unseen">{name}</h1>
      <EmptyState icon="data" title={`There is no data set ${name}`}>
        <p>
          {words} See <Link to="/data">all data sets</Link>.
        </p>
      </EmptyState>
    </>
  );
}
