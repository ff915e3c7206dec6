import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Card, Facts } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, formatDuration, formatTime, plural } from "@/components/format";
import { CodeView } from "@/components/LineView";
import { Skeleton } from "@/components/Skeleton";
import { Words } from "@/components/Words";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useTitle } from "@/router/title";
import { pinsOf } from "./contents";
import styles from "./Environments.module.css";

/** One environment as it is on the disk: its packages to the exact version, its size, its build log. */
export default function BuiltPage({ params }: PageProps) {
  const key = params.key ?? "";
  const asked = useQuery({ queryKey: keys.environments("built", "one", key), queryFn: ({ signal }) => call("get_built_environment", { path: { key }, signal }) });
  useTitle(asked.data?.name);
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data) {
    if (!toApiError(asked.error).isNotFound) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
    return (
      <EmptyState icon="environment" title="This environment is not on the disk">
        <p>
          It was removed, or is on another machine. A run that needs it builds it again. See <Link to="/environments?view=built">those that are here</Link>.
        </p>
      </EmptyState>
    );
  }
  const built = asked.data;
  const pins = pinsOf(built.lock);
  return (
    <>
      <header className={styles.head}>
        <h1>{built.name || built.key.slice(0, 16)}</h1>
      </header>
      <div className={styles.columns}>
        <div className={styles.column}>
          <Card title={plural(built.num_packages, "package")} testId="built-packages">
            {pins.length > 0 ? (
              <ul className={styles.packages} tabIndex={0} aria-label="Packages and their versions">
                {pins.map((pin) => (
                  <li key={pin.name}>
                    {pin.name} <span>{pin.version}</span>
                  </li>
                ))}
              </ul>
            ) : (
              <p className={styles.about}>Its lock names none.</p>
            )}
          </Card>
          <Card title="Build log" testId="built-log">
            {built.log ? <CodeView label="What the build wrote" text={built.log} /> : <p className={styles.about}>None was kept.</p>}
          </Card>
        </div>
        <div className={styles.column}>
          <Card title="About" testId="built-about">
            <Facts
              facts={[
                ["Key", <code key="key">{built.key}</code>],
                ["Python", `${built.python_version}${built.python_requested ? ` (asked for: ${built.python_requested})` : ""}`],
                ["Platform", built.platform],
                ["Built", `${formatTime(built.built_utc)}, in ${formatDuration(built.build_s)}`],
                ["Last used", formatTime(built.last_used_utc)],
                ["Disk, own", formatBytes(built.own_bytes)],
                ["Disk, shared", formatBytes(built.shared_bytes)],
                ["In use by", built.in_use_by.length ? built.in_use_by.join(", ") : "no run"],
              ]}
            />
          </Card>
          {[...built.deviations, ...built.notes].length > 0 && (
            <Card title="Notes" testId="built-notes">
              <ul className={styles.notes}>
                {built.deviations.map((note) => (
                  <li key={note} className={styles.warn}>
                    <Words text={note} />
                  </li>
                ))}
                {built.notes.map((note) => (
                  <li key={note}>
                    <Words text={note} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      </div>
    </>
  );
}
