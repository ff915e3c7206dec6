import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Dataset } from "@/api/types";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatCount, formatNumber, plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import files from "@/pages/run/files/Files.module.css";
import styles from "./Data.module.css";

const ROWS = 200;

/** The first rows of a table. */
export function TableView({ dataset }: { dataset: Dataset }) {
  const { name, version } = dataset;
  const asked = useQuery({
    queryKey: keys.dataContent(name, version, "table"),
    queryFn: ({ signal }) => call("preview_dataset_table", { path: { name, version }, query: { rows: ROWS }, signal }),
    staleTime: Infinity,
  });
  return (
    <Card title="Table" testId="data-preview">
      {asked.isPending && <Skeleton lines={6} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && (
        <>
          <div className={files.scroll} tabIndex={0} role="region" aria-label={`Rows of ${name}`}>
            <table className={files.table}>
              <thead>
                <tr>
                  <th scope="col">#</th>
                  {asked.data.columns.map((column, index) => (
                    <th key={index} scope="col">
                      {column}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {asked.data.rows.map((row, index) => (
                  <tr key={index}>
                    <td>{formatCount(index + 1)}</td>
                    {asked.data.columns.map((_, at) => (
                      <td key={at} data-number={typeof row[at] === "number" || undefined}>
                        {cell(row[at])}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className={styles.about}>{asked.data.is_whole ? plural(asked.data.rows.length, "row") : `The first ${plural(asked.data.rows.length, "row")}`}</p>
        </>
      )}
    </Card>
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? formatNumber(value, 8) : String(value);
}
