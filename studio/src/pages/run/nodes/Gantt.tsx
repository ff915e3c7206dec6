import { formatDuration, formatTime, plural } from "@/components/format";
import { classes } from "@/components/classes";
import styles from "./Nodes.module.css";
import type { Plan, Row } from "./gantt";

/** Who ran when: phases, tries, nodes and ranks, one row each. A table, so that it can be read out. */
export function Gantt({ plan }: { plan: Plan }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Rows of the timeline">
      <table className={styles.gantt} data-testid="nodes-gantt">
        <caption className="unseen">
          From {formatTime(plan.start)}, {formatDuration(plan.end - plan.start)} in all
        </caption>
        <thead>
          <tr>
            <th scope="col">Who</th>
            <th scope="col">How it ended</th>
            <th scope="col" className={styles.axis}>
              <span className="unseen">When</span>
              {plan.ticks.map((tick) => (
                <span key={tick.word} className={styles.tick} style={{ left: `${tick.at}%` }} data-end={tick.at > 92 || undefined} aria-hidden="true">
                  {tick.word}
                </span>
              ))}
            </th>
          </tr>
        </thead>
        <tbody>
          {plan.rows.map((row) => (
            <RowOf key={row.key} row={row} ticks={plan.ticks} />
          ))}
        </tbody>
      </table>
      {plan.leftOut > 0 && <p className="soft">{plural(plan.leftOut, "row")} more are left out.</p>}
    </div>
  );
}

function RowOf({ row, ticks }: { row: Row; ticks: Plan["ticks"] }) {
  return (
    <tr data-kind={row.kind} data-row={row.key}>
      <th scope="row" className={classes(styles.who, styles[row.kind])}>
        {row.label}
        {row.kind === "node" && row.note && <small title={row.note}>{row.note}</small>}
      </th>
      <td className={styles.result} data-result={row.result} title={row.note}>
        {row.kind === "rank" && row.note ? row.note : row.result}
      </td>
      <td className={styles.track}>
        {ticks.map((tick) => (
          <i key={tick.word} className={styles.grid} style={{ left: `${tick.at}%` }} />
        ))}
        {row.bars.map((bar, index) => (
          <span key={index} className={styles.bar} data-tone={bar.tone} style={{ left: `${bar.left}%`, width: `${bar.width}%` }} title={bar.title} />
        ))}
      </td>
    </tr>
  );
}
