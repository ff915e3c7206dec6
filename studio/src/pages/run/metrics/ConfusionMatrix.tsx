import { useState } from "react";
import { Checkbox } from "@/components/Field";
import { formatNumber } from "@/components/format";
import styles from "./Items.module.css";
import { accuracyOf, normalised, type Matrix } from "./shapes";

const MOST_WITH_NUMBERS = 14;

/** Rows are what it was, columns what it was taken for. */
export function ConfusionMatrix({ matrix, label }: { matrix: Matrix; label: string }) {
  const [isShare, setShare] = useState(false);
  const shares = normalised(matrix.rows);
  const hasNumbers = matrix.labels.length <= MOST_WITH_NUMBERS;
  return (
    <div className={styles.matrixBox}>
      <div className={styles.matrixHead}>
        <span>
          Accuracy <b className="numbers">{formatNumber(accuracyOf(matrix.rows), 4)}</b>
        </span>
        <Checkbox label="Shares of each class" checked={isShare} onChange={(event) => setShare(event.target.checked)} />
      </div>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Confusion matrix ${label}`}>
        <table className={styles.matrix}>
          <caption className="unseen">Confusion matrix: rows are true classes, columns predicted ones</caption>
          <thead>
            <tr>
              <th scope="col" className={styles.corner}>
                <span className={styles.axis}>true ↓ predicted →</span>
              </th>
              {matrix.labels.map((label, index) => (
                <th key={index} scope="col" title={label}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map((row, at) => (
              <tr key={at}>
                <th scope="row" title={matrix.labels[at]}>
                  {matrix.labels[at]}
                </th>
                {row.map((value, to) => {
                  const share = shares[at]?.[to] ?? 0;
                  return (
                    <td
                      key={to}
                      // Text stays the ink on at most 45 % of the colour, so that it can be read in both themes.
                      style={{ background: `color-mix(in oklab, var(${at === to ? "--good" : "--bad"}) ${Math.round(share * 45)}%, var(--surface))` }}
                      title={`${matrix.labels[at]} taken for ${matrix.labels[to]}: ${formatNumber(value)} (${(share * 100).toFixed(1)} %)`}
                    >
                      {hasNumbers ? (isShare ? `${(share * 100).toFixed(0)} %` : formatNumber(value)) : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
