import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Chart } from "@/charts/Chart";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Select } from "@/components/Field";
import { formatNumber, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { useSearch } from "@/router/location";
import styles from "./Endpoints.module.css";
import { latencyChart, rateChart, shownRange, WINDOWS } from "./endpoints";

/** How quick it answers and how much it is asked, over a time that the address names. */
export function LatencyCard({ name }: { name: string }) {
  const [search, change] = useSearch();
  const seconds = WINDOWS.some(([value]) => value === search.get("last")) ? Number(search.get("last")) : 3600;
  const asked = useQuery({
    queryKey: keys.endpoints("one", name, "latency", seconds),
    queryFn: ({ signal }) => call("get_endpoint_latency", { path: { name }, query: { seconds, points: 240 }, signal }),
    placeholderData: (before) => before,
    refetchInterval: 10_000, // numbers of requests are no events: there would be one for each request
  });
  const { data } = asked;
  const latency = useMemo(() => latencyChart(data?.series ?? []), [data]);
  const rate = useMemo(() => rateChart(data?.series ?? [], data?.step_s || 1), [data]);
  const range = useMemo(() => (data ? shownRange(data.series, data.to, seconds) : null), [data, seconds]);
  const picker = (
    <Select aria-label="Time shown" className={styles.window} value={String(seconds)} onChange={(event) => change({ last: event.target.value === "3600" ? null : event.target.value })} data-testid="endpoint-window">
      {WINDOWS.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </Select>
  );
  return (
    <Card title="Latency and load" testId="endpoint-latency" actions={picker}>
      {asked.isPending && <Skeleton lines={4} />}
      {!data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {data && data.total.requests === 0 && <p className={styles.about}>Nobody has asked it in this time. Try it above, or send requests to its address.</p>}
      {data && data.total.requests > 0 && (
        <>
          <dl className={styles.numbers}>
            {(
              [
                ["p50", `${formatNumber(data.total.p50_ms, 3)} ms`],
                ["p95", `${formatNumber(data.total.p95_ms, 3)} ms`],
                ["p99", `${formatNumber(data.total.p99_ms, 3)} ms`],
                ["asked", plural(data.total.requests, "time")],
                ["failed", plural(data.total.errors, "time")],
              ] as const
            ).map(([word, value]) => (
              <div key={word}>
                <dt>{word}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <Chart label="Milliseconds until an answer" curves={latency.curves} data={latency.data} x="time" height={180} sync="endpoint" range={range} />
          <Chart label="Requests per second" curves={rate.curves} data={rate.data} x="time" height={130} sync="endpoint" range={range} />
        </>
      )}
    </Card>
  );
}
