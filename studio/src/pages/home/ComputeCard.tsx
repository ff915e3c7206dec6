import { Card } from "@/components/Card";
import { plural } from "@/components/format";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import type { HomeAnswer } from "./Home";
import styles from "./Home.module.css";

/** Each target: how many of its nodes work, and how many runs wait for it. */
export function ComputeCard({ targets }: { targets: HomeAnswer["compute"] }) {
  return (
    <Card title="Compute" testId="home-compute" actions={<Link to="/compute" className={styles.all}>All</Link>}>
      <ul className={styles.targets}>
        {targets.map((target) => (
          <li key={target.name}>
            <div className={styles.first}>
              <Link to={`/compute/${encodeURIComponent(target.name)}`} className={styles.name}>
                {target.name}
              </Link>
              <span className={styles.about}>
                {target.kind === "local" ? plural(target.running_runs, "run") : `${target.busy_nodes} of ${plural(target.max_nodes, "node")} busy`}
                {target.kind !== "local" && target.running_runs > 0 && ` · ${plural(target.running_runs, "run")}`}
                {target.queued_runs > 0 && ` · ${target.queued_runs} waiting`}
              </span>
            </div>
            {target.max_nodes > 0 && <meter className={styles.meter} min={0} max={target.max_nodes} value={target.busy_nodes} aria-label={`${target.busy_nodes} of ${target.max_nodes} nodes busy`} />}
            {target.problem && (
              <p className={styles.cause}>
                <Words text={target.problem} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
