import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { call, type Answer } from "@/api/client";
import { useEvents } from "@/api/live";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount } from "@/components/format";
import { Icon, type IconName } from "@/components/Icon";
import { STATUS_GROUPS } from "@/components/StatusPill";
import { Skeleton } from "@/components/Skeleton";
import { Link } from "@/router/Link";
import { ComputeCard } from "./ComputeCard";
import { DiskCard } from "./DiskCard";
import styles from "./Home.module.css";
import { quietWords, whereEnded } from "./columns";
import { RunList } from "./RunList";
import { useCurves } from "./useCurves";

export type HomeAnswer = Answer<"get_home">;

const COUNTED_MS = 6000; // the keeper counts ended runs every five seconds at most

/** What runs now, what waits and why, what failed lately and why, compute in use, disk. */
export default function Home() {
  const home = useQuery({ queryKey: keys.home, queryFn: ({ signal }) => call("get_home", { signal }) });
  useOnceMore(() => void home.refetch());
  const logged = useCurves(home.data?.running.map((run) => run.id) ?? []);
  if (home.isPending) return <Skeleton lines={8} />;
  if (!home.data) return <ErrorNotice error={home.error} onRetry={() => void home.refetch()} />;
  const { counts, running, waiting, failed, ended, more } = home.data;
  if (running.length + waiting.length + ended.length + failed.length === 0) return <FirstRun home={home.data} />;
  const quiet = quietWords(home.data);
  const place = whereEnded(home.data);
  const endedLast = (
    <Card title="Ended last" isFlush testId="home-ended" actions={<All to="/runs" isShown />}>
      <RunList runs={ended} empty="No run has ended yet." isShort={place === "side"} />
    </Card>
  );
  return (
    <>
      <h1 className="unseen">Home</h1>
      <ul className={styles.counts}>
        <Count icon="running" tone="busy" label="Running" statuses={STATUS_GROUPS.running} counts={counts} exact={more.running ? undefined : running.length} />
        <Count icon="waiting" tone="warn" label="Waiting" statuses={STATUS_GROUPS.waiting} counts={counts} exact={more.waiting ? undefined : waiting.length} />
        <Count icon="completed" tone="good" label="Completed" statuses={["Completed"]} counts={counts} />
        <Count icon="failed" tone="bad" label="Failed" statuses={["Failed"]} counts={counts} />
      </ul>
      <div className={styles.columns}>
        <div className={styles.column}>
          {quiet && (
            <p className={styles.quiet} data-testid="home-quiet">
              {quiet}
            </p>
          )}
          {running.length > 0 && (
            <Card title="Running now" isFlush testId="home-running" actions={<All to={statusLink(STATUS_GROUPS.running)} isShown={more.running} />}>
              <RunList runs={running} empty="" logged={logged} />
            </Card>
          )}
          {waiting.length > 0 && (
            <Card title="Waiting, and for what" isFlush testId="home-waiting" actions={<All to={statusLink(STATUS_GROUPS.waiting)} isShown={more.waiting} />}>
              <RunList runs={waiting} shows="reason" empty="" />
            </Card>
          )}
          {failed.length > 0 && (
            <Card title="Failed lately, and why" isFlush testId="home-failed" actions={<All to={statusLink(["Failed"])} isShown />}>
              <RunList runs={failed} shows="cause" empty="" />
            </Card>
          )}
          {place === "main" && endedLast}
        </div>
        <div className={styles.column}>
          <ComputeCard targets={home.data.compute} />
          <DiskCard disk={home.data.disk} />
          {place === "side" && endedLast}
        </div>
      </div>
    </>
  );
}

interface CountProps {
  icon: IconName;
  tone: string;
  label: string;
  statuses: readonly string[];
  counts: Record<string, number>;
  /** Where all of them are listed. */
  exact?: number;
}

/** Asks again a while after the last change of status, when the counts have caught up with it. */
function useOnceMore(ask: () => void): void {
  const latest = useRef(ask);
  latest.current = ask;
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  useEvents((event) => {
    if (event.kind !== "status") return;
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(), COUNTED_MS);
  });
}

function Count({ icon, tone, label, statuses, counts, exact }: CountProps) {
  const count = exact ?? statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  return (
    <li>
      <Link to={statusLink(statuses)} className={styles.count}>
        <span className={styles.number} data-tone={count ? tone : undefined}>
          <Icon name={icon} size={18} />
          {formatCount(count)}
        </span>
        <span className={styles.label}>{label}</span>
      </Link>
    </li>
  );
}

function statusLink(statuses: readonly string[]): string {
  return `/runs?status=${statuses.join(",")}&children=yes`; // as they are counted
}

function All({ to, isShown }: { to: string; isShown: boolean }) {
  return isShown ? (
    <Link to={to} className={styles.all}>
      All
    </Link>
  ) : null;
}

/** Nothing was ever run: what to type. */
function FirstRun({ home }: { home: HomeAnswer }) {
  return (
    <>
      <h1 className="unseen">Home</h1>
      <Card>
        <EmptyState icon="nest" title="No runs yet">
          <p>Submit a script from your terminal; it shows up here while it runs.</p>
          <pre>
            <code>{"rookery run train.py --epochs 3"}</code>
          </pre>
          <p>
            Or from Python, with code written for <code>azureml</code> as it is: <code>Experiment(ws, "birds").submit(config)</code>.
          </p>
        </EmptyState>
      </Card>
      <div className={styles.columns}>
        <ComputeCard targets={home.compute} />
        <DiskCard disk={home.disk} />
      </div>
    </>
  );
}
