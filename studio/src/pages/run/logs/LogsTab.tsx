import { EmptyState } from "@/components/EmptyState";
import { isOver } from "@/components/StatusPill";
import { useSearch } from "@/router/location";
import type { TabProps } from "../tabs";
import { LogPanel } from "./LogPanel";
import { firstLog } from "./names";

/** What the ranks wrote, live: one log at a time, the one that tells of the failure first. */
export default function LogsTab({ run, overview }: TabProps) {
  const [search, change] = useSearch();
  const isLive = !isOver(run.status);
  const name = firstLog(overview.logs, search.get("log"), run.error?.log);
  if (name === null) {
    return (
      <EmptyState icon="log" title={isLive ? "Nothing is written yet" : "Nothing was written"}>
        <p>{isLive ? "What the script prints shows up here, line by line, as soon as it runs." : "The run ended before it wrote anything. The cause above, or the phases in Overview, say how far it came."}</p>
      </EmptyState>
    );
  }
  return <LogPanel key={`${run.id}/${name}`} run={run.id} name={name} logs={overview.logs} isLive={isLive} search={search} change={change} />;
}
