import { useQuery } from "@tanstack/react-query";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { formatTime } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Table, type Column } from "@/components/Table";
import { useIsNarrow } from "@/components/useIsNarrow";
import { useSearch } from "@/router/location";
import styles from "./Settings.module.css";

type Row = Answer<"list_audit">["entries"][number];

const COLUMNS: Column<Row>[] = [
  { id: "time", title: "When", width: "13rem", cell: (row) => formatTime(row.time_utc) },
  { id: "who", title: "Who", width: "minmax(6rem, 1fr)", cell: (row) => row.who },
  { id: "action", title: "What", width: "minmax(7rem, 1fr)", cell: (row) => row.action },
  { id: "path", title: "On what", width: "minmax(10rem, 2fr)", isExtra: true, cell: (row) => <span title={row.path}>{row.path}</span> },
  { id: "status", title: "Answer", width: "5rem", align: "right", cell: (row) => row.status },
  { id: "address", title: "From", width: "8rem", isExtra: true, cell: (row) => row.address },
];
const MOST = 500;

/** What was changed, by whom, refused or not. Newest first; for owners. */
export function AuditTab() {
  const [search, change] = useSearch();
  const who = search.get("who") ?? "";
  const isNarrow = useIsNarrow();
  const asked = useQuery({ queryKey: keys.settings("audit", who), queryFn: ({ signal }) => call("list_audit", { query: { limit: MOST, who: who || null }, signal }), placeholderData: (before) => before });
  return (
    <div className={styles.narrow} style={{ maxWidth: "none" }}>
      <SearchInput label="Name of who did it" value={who} onChange={(event) => change({ who: event.target.value })} />
      <Card isFlush testId="settings-audit">
        {asked.isPending && <Skeleton lines={6} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data?.entries.length === 0 && <p className={styles.empty}>{who ? `Nothing is known of ${who}. Give the whole name.` : "Nothing has been changed yet."}</p>}
        {asked.data && asked.data.entries.length > 0 && (
          <Table
            label="Who did what"
            testId="settings-audit-table"
            columns={isNarrow ? COLUMNS.filter((column) => !column.isExtra) : COLUMNS}
            rows={asked.data.entries}
            rowKey={(row) => String(row.seq)}
            maxHeight="65vh"
            foot={<span>{asked.data.entries.length >= MOST ? `The newest ${MOST}; rookery audit shows more` : `${asked.data.entries.length} entries`}</span>}
          />
        )}
      </Card>
    </div>
  );
}
