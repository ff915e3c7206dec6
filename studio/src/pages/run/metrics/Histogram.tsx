import { formatNumber } from "@/components/format";
import styles from "./Items.module.css";
import type { Residuals } from "./shapes";

/** How many fell into each bin. */
export function Histogram({ edges, counts, label }: Residuals & { label: string }) {
  const most = Math.max(1, ...counts);
  const low = edges[0] ?? 0;
  const width = (edges[edges.length - 1] ?? 1) - low || 1;
  const all = counts.reduce((a, b) => a + b, 0);
  return (
    <figure className={styles.histogram}>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={`${label}: ${formatNumber(all)} values from ${formatNumber(low)} to ${formatNumber(edges[edges.length - 1])}, at most ${formatNumber(most)} in a bin`}>
        {counts.map((count, index) => {
          const [from, to] = [edges[index] ?? 0, edges[index + 1] ?? 0];
          return (
            <rect key={index} x={((from - low) / width) * 100} width={Math.max(0.1, ((to - from) / width) * 100 - 0.3)} y={40 - (count / most) * 40} height={(count / most) * 40}>
              <title>{`${formatNumber(from)} to ${formatNumber(to)}: ${formatNumber(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="numbers">
        <span>{formatNumber(low, 3)}</span>
        <span>at most {formatNumber(most)} in a bin</span>
        <span>{formatNumber(edges[edges.length - 1], 3)}</span>
      </figcaption>
    </figure>
  );
}
