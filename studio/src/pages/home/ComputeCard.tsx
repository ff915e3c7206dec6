import { Card } from "@/components/Card";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import type { HomeAnswer } from "./Home";
import styles from "./Home.module.css";
import { busyWords, isLimited } from "./nodes";

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
              <span className={styles.about}>{busyWords(target)}</span>
            </div>
            {isLimited(target) && <meter className={styles.meter} min={0} max={target.max_nodes} value={target.busy_nodes} aria-label={`${target.busy_nodes} of ${target.max_nodes} nodes busy`} />}
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
