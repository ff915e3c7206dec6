import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatDuration, plural } from "@/components/format";
import { StatusPill, statusWord } from "@/components/StatusPill";
import { Table, type Column } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import type { Overview, Run } from "../tabs";

type Child = Answer<"search_runs">["runs"][number];

const COLUMNS: Column<Child>[] = [
  { id: "name", title: "Name", width: "minmax(10rem, 1fr)", cell: (run) => <Link to={`/runs/${encodeURIComponent(run.id)}`}>{run.display_name || run.id}</Link> },
  { id: "status", title: "Status", width: "9rem", cell: (run) => <StatusPill status={run.status} reason={run.reason} isStale={run.stale} /> },
  { id: "duration", title: "Duration", width: "7rem", align: "right", cell: (run) => formatDuration(run.duration_s) },
  { id: "created", title: "Created", width: "8rem", align: "right", cell: (run) => <Ago time={run.created_utc} /> },
];

/** The runs below this one. */
export function Children({ run, overview }: { run: Run; overview: Overview }) {
  const children = useInfiniteQuery({
    queryKey: keys.run(run.id, "children"),
    queryFn: ({ pageParam, signal }) =>
      call("search_runs", { body: { parent: run.id, include_children: true, archived: "all", columns: { metrics: [], params: [], tags: [] }, sort: [{ kind: "attribute", key: "number", ascending: true }], limit: 100, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    placeholderData: (before) => before,
  });
  const rows = useMemo(() => children.data?.pages.flatMap((page) => page.runs) ?? [], [children.data]);
  const counts = Object.entries(overview.children.by_status).map(([status, count]) => `${count} ${statusWord(status).toLowerCase()}`);
  return (
    <Card title={`${plural(overview.children.total, "child", "children")}: ${counts.join(", ")}`} isFlush testId="run-children">
      {children.error && <ErrorNotice error={children.error} onRetry={() => void children.refetch()} />}
      <Table
        label="Children"
        maxHeight="24rem"
        columns={COLUMNS}
        rows={rows}
        rowKey={(child) => child.id}
        onOpen={(child) => navigate(`/runs/${encodeURIComponent(child.id)}`)}
        onEnd={() => {
          if (children.hasNextPage && !children.isFetchingNextPage) void children.fetchNextPage();
        }}
      />
    </Card>
  );
}
