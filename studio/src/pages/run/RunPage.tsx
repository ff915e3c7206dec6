import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorBoundary } from "@/components/ErrorBoundary";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import type { PageProps } from "@/registry";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { useTitle } from "@/router/title";
import { CauseCard } from "./CauseCard";
import { RunHead } from "./RunHead";
import styles from "./RunPage.module.css";
import { tabs, type Overview } from "./tabs";

/** One run: why it failed where it did, what it is and does, and a tab for each kind of thing that is known of it. */
export default function RunPage({ params }: PageProps) {
  const id = params.id ?? "";
  const overview = useQuery({ queryKey: keys.run(id, "overview"), queryFn: ({ signal }) => call("get_overview", { path: { run_id: id }, signal }) });
  useTitle(overview.data?.run.display_name);
  if (overview.data) return <Loaded key={id} overview={overview.data} />;
  if (overview.isPending) return <Skeleton lines={8} />;
  if (toApiError(overview.error).isNotFound) {
    return (
      <Card>
        <EmptyState icon="runs" title="There is no such run">
          <p>
            No run has the id <code>{id}</code>. It may have been deleted for good, or belong to another workspace.
          </p>
          <p>
            <Link to="/runs">All runs</Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  return <ErrorNotice error={overview.error} onRetry={() => void overview.refetch()} />;
}

function Loaded({ overview }: { overview: Overview }) {
  const [search, change] = useSearch();
  const shown = tabs.filter((tab) => tab.isShown?.(overview) ?? true);
  const selected = shown.find((tab) => tab.id === search.get("tab")) ?? shown[0];
  if (!selected) return null;
  const cause = overview.run.error;
  return (
    <div className={styles.page} data-testid="run" data-status={overview.run.status}>
      <RunHead overview={overview} />
      {cause && <CauseCard cause={cause} run={overview.run} isOpen={selected.id !== "logs"} />}
      <div>
        <Tabs
          label="Parts of this run"
          selected={selected.id}
          // What belongs to one tab (a log's name, a zoom) means nothing to another.
          onSelect={(tab) => change({ ...Object.fromEntries([...search.keys()].map((key) => [key, null])), tab: tab === shown[0]?.id ? null : tab }, { push: true })}
          tabs={shown.map((tab) => ({
            id: tab.id,
            label: tab.label,
            count: countOf(tab.count?.(overview)),
            content: () => (
              <ErrorBoundary resetKey={tab.id}>
                <Suspense fallback={<Skeleton lines={6} />}>
                  <tab.Shown run={overview.run} overview={overview} />
                </Suspense>
              </ErrorBoundary>
            ),
          }))}
        />
      </div>
    </div>
  );
}

function countOf(count: number | undefined): string | undefined {
  return count ? formatCount(count) : undefined;
}
