import { useMemo, type ReactNode } from "react";
import { EmptyState } from "@/components/EmptyState";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { isOver } from "@/components/StatusPill";
import { formatNumber, toDate } from "@/components/format";
import { useSearch } from "@/router/location";
import type { TabProps } from "../tabs";
import { hasRanks, toGroups, type Group } from "./charts";
import { ChartPanel, type PanelProps } from "./ChartPanel";
import { FullChart } from "./FullChart";
import { ItemCard } from "./ItemCard";
import styles from "./Metrics.module.css";
import { Toolbar } from "./Toolbar";
import { formatZoom, parseView } from "./view";

/** Charts of everything that was logged, live, in groups; then tables, pictures and the like. All of the view is in the address. */
export default function MetricsTab({ run, overview }: TabProps) {
  const [search, change] = useSearch();
  const view = useMemo(() => parseView(search), [search]);
  const groups = useMemo(() => toGroups(overview.metrics, view.wanted), [overview.metrics, view.wanted]);
  const isRanked = useMemo(() => hasRanks(overview.metrics), [overview.metrics]);
  const start = run.started_utc ?? run.created_utc;
  const shared: Omit<PanelProps, "plan"> = {
    run: run.id,
    view,
    start: view.x === "relative" ? toDate(start).getTime() / 1000 : 0,
    onZoom: (zoom) => change({ zoom: formatZoom(zoom) }),
    onOpen: (key) => change({ chart: key }, { push: true }),
  };
  if (overview.metrics.length === 0) return <Nothing isLive={!isOver(run.status)} />;
  const opened = view.chart === null ? undefined : groups.flatMap((group) => group.charts).find((plan) => plan.key === view.chart);
  const drawn = groups.filter((group) => group.charts.length + group.values.length > 0);
  const items = groups.flatMap((group) => group.items);
  const toggle = (name: string) => {
    const next = new Set(view.closed);
    if (!next.delete(name || "-")) next.add(name || "-");
    change({ closed: [...next].join(",") });
  };
  return (
    <div className={styles.tab} data-testid="run-metrics">
      <Toolbar run={run.id} view={view} hasRanks={isRanked} change={change} />
      {groups.length === 0 && (
        <EmptyState icon="search" title="No metric has such a name">
          <Button onClick={() => change({ q: null })}>Show all</Button>
        </EmptyState>
      )}
      {drawn.map((group) => (
        <GroupOf key={group.name} group={group} isAlone={drawn.length === 1 && items.length === 0} isOpen={!view.closed.has(group.name || "-")} onToggle={() => toggle(group.name)} shared={shared} />
      ))}
      {items.length > 0 && (
        <Section name="Tables, pictures and more" count={items.length} isAlone={drawn.length === 0} isOpen={!view.closed.has("items")} onToggle={() => toggle("items")}>
          <div className={styles.items}>
            {items.map((metric) => (
              <ItemCard key={metric.name} run={run.id} metric={metric} />
            ))}
          </div>
        </Section>
      )}
      {opened && <FullChart plan={opened} {...shared} onClose={() => change({ chart: null })} change={change} hasRanks={isRanked} />}
    </div>
  );
}

interface GroupProps {
  group: Group;
  isAlone: boolean;
  isOpen: boolean;
  onToggle: () => void;
  shared: Omit<PanelProps, "plan">;
}

function GroupOf({ group, shared, ...rest }: GroupProps) {
  return (
    <Section name={group.name || "Metrics"} count={group.charts.length + group.values.length} {...rest}>
      {group.values.length > 0 && (
        <dl className={styles.values}>
          {group.values.map((metric) => (
            <div key={metric.name}>
              <dt title={metric.name}>{metric.name}</dt>
              <dd>{typeof metric.last === "boolean" ? String(metric.last) : formatNumber(metric.last as number | string | null)}</dd>
            </div>
          ))}
        </dl>
      )}
      {group.charts.length > 0 && (
        <div className={styles.grid}>
          {group.charts.map((plan) => (
            <ChartPanel key={plan.key} plan={plan} {...shared} />
          ))}
        </div>
      )}
    </Section>
  );
}

interface SectionProps {
  name: string;
  count: number;
  isAlone: boolean;
  isOpen: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** A group under its name, which closes it; where it is the only one it needs no name. */
function Section({ name, count, isAlone, isOpen, onToggle, children }: SectionProps) {
  return (
    <section className={styles.group}>
      {isAlone ? (
        <h2 className="unseen">{name}</h2>
      ) : (
        <h2 className={styles.groupHead}>
          <button type="button" aria-expanded={isOpen} onClick={onToggle}>
            <Icon name={isOpen ? "down" : "right"} />
            {name}
            <span className={styles.count}>{count}</span>
          </button>
        </h2>
      )}
      {(isOpen || isAlone) && children}
    </section>
  );
}

function Nothing({ isLive }: { isLive: boolean }) {
  return (
    <EmptyState icon="chart" title={isLive ? "Nothing is logged yet" : "Nothing was logged"}>
      <p>{isLive ? "Charts show up here as soon as the script logs its first value." : "Log values in the script and they are drawn here while it runs:"}</p>
      <pre>
        <code>{'run = Run.get_context()\nrun.log("loss", loss, step=step)'}</code>
      </pre>
      <p>
        <code>mlflow.log_metric</code> and TensorBoard&apos;s <code>SummaryWriter</code> work too.
      </p>
    </EmptyState>
  );
}
