import { Card } from "@/components/Card";
import { formatNumber } from "@/components/format";
import { Link } from "@/router/Link";
import type { Overview } from "../tabs";
import styles from "./Overview.module.css";

const MOST = 12;

/** The last value of each metric, so that the numbers are seen without a click. */
export function LastValues({ overview }: { overview: Overview }) {
  const scalars = overview.metrics.filter((metric) => (metric.kind === "scalar" || metric.kind === "list") && metric.last !== null && typeof metric.last !== "object");
  if (scalars.length === 0) return null;
  const to = `/runs/${encodeURIComponent(overview.run.id)}?tab=metrics`;
  return (
    <Card title="Last values" testId="run-last-values" actions={<Link to={to}>{scalars.length > MOST ? `All ${scalars.length}` : "Charts"}</Link>}>
      <dl className={styles.values}>
        {scalars.slice(0, MOST).map((metric) => (
          <div key={metric.name}>
            <dt title={metric.name}>{metric.name}</dt>
            <dd>{formatNumber(metric.last as number | string)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
