import { Card, Facts } from "@/components/Card";
import { formatBytes } from "@/components/format";
import type { HomeAnswer } from "./Home";
import styles from "./Home.module.css";

export function DiskCard({ disk }: { disk: HomeAnswer["disk"] }) {
  const { free_bytes: free, total_bytes: total } = disk;
  const used = total && free !== null ? total - free : null;
  return (
    <Card title="Disk" testId="home-disk">
      {used !== null && total ? (
        <>
          <div className={styles.first}>
            <strong>{formatBytes(free)} free</strong>
            <span className={styles.about}>of {formatBytes(total)}</span>
          </div>
          <meter className={styles.meter} min={0} max={total} high={total * 0.9} optimum={0} value={used} aria-label={`${formatBytes(used)} of ${formatBytes(total)} used`} />
        </>
      ) : null}
      <Facts
        facts={[
          ["Files of runs", formatBytes(disk.content_bytes)],
          ["Logs", formatBytes(disk.log_bytes)],
          ["Database", formatBytes(disk.database_bytes)],
        ]}
      />
    </Card>
  );
}
