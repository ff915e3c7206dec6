import { useState } from "react";
import { Chart } from "@/charts/Chart";
import { alignSeries } from "@/charts/data";
import { Select } from "@/components/Field";
import { formatNumber } from "@/components/format";
import styles from "./Items.module.css";
import { area, precisionPoints, rocPoints, type Accuracy, type Point } from "./shapes";

const MOST = 10;

/** ROC and precision over recall of each class, from the counts at every threshold. */
export function AccuracyCharts({ table }: { table: Accuracy }) {
  const [kind, setKind] = useState<"roc" | "precision">("roc");
  const made = table.tables.slice(0, MOST).map((each) => (kind === "roc" ? rocPoints(each) : precisionPoints(each)));
  const curves = made.map((points, index) => ({ label: `${table.labels[index]}: ${formatNumber(area(points), 3)}`, color: index }));
  return (
    <>
      <div className={styles.matrixHead}>
        <Select aria-label="Which curve" value={kind} className={styles.auto} onChange={(event) => setKind(event.target.value as typeof kind)}>
          <option value="roc">ROC, with the area below</option>
          <option value="precision">Precision over recall, with the area below</option>
        </Select>
        {table.tables.length > MOST && <span className="soft">the first {MOST} of {table.tables.length} classes</span>}
      </div>
      <Chart
        label={kind === "roc" ? "ROC curves" : "Precision over recall"}
        curves={curves}
        data={alignSeries(made.map(spread))}
        height={240}
        xLabel={kind === "roc" ? "false positive rate" : "recall"}
      />
    </>
  );
}

/** A chart has one value at each x: steps upwards are drawn with a hair's breadth between them. */
function spread(points: readonly Point[]): { xs: number[]; ys: number[] } {
  const xs: number[] = [];
  for (const point of points) {
    const before = xs[xs.length - 1];
    xs.push(before !== undefined && point.x <= before ? before + 1e-9 : point.x);
  }
  return { xs, ys: points.map((point) => point.y) };
}
