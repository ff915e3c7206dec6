import { CodeView } from "@/components/LineView";
import { formatCount, formatNumber } from "@/components/format";
import styles from "./Items.module.css";

interface Props {
  label: string;
  columns: Record<string, unknown[]>;
  /** The number of the first row. */
  first: number;
  total: number;
}

/** Rows that were logged, as they are. */
export function LoggedTable({ label, columns, first, total }: Props) {
  const names = Object.keys(columns);
  const count = Math.max(0, ...names.map((name) => columns[name]?.length ?? 0));
  return (
    <>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Rows of ${label}`}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">#</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: count }, (_, row) => (
              <tr key={row}>
                <td>{formatCount(first + row)}</td>
                {names.map((name) => (
                  <td key={name}>{cell(columns[name]?.[row])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={styles.foot}>
        {total > count ? `Rows ${formatCount(first)} to ${formatCount(first + count - 1)} of ${formatCount(total)}` : `${formatCount(total)} rows`}
      </p>
    </>
  );
}

/** What has a shape that is not known. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  return <CodeView label={`Content of ${label}`} text={JSON.stringify(value, null, 2)} maxHeight="18rem" />;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" || typeof value === "string") return formatNumber(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
