import { Fragment, useMemo, useState } from "react";
import type { Comparison } from "@/api/types";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { Checkbox, SearchInput } from "@/components/Field";
import { formatCount } from "@/components/format";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import { SECTIONS, SECTION_WORDS, type ShownRun } from "./compared";
import styles from "./Compare.module.css";
import { toRows } from "./rows";
import { Swatch } from "./RunChips";

const FIRST = 300;

/** Parameters, metrics and the rest, a column a run; what differs from the first run stands out. */
export function Differences({ comparison, runs }: { comparison: Comparison; runs: readonly ShownRun[] }) {
  const [search, change] = useSearch();
  const [most, setMost] = useState(FIRST);
  const isOnly = search.get("rows") !== "all";
  const wanted = search.get("q") ?? "";
  const rows = useMemo(() => toRows(comparison, isOnly, wanted), [comparison, isOnly, wanted]);
  const shown = rows.slice(0, most);
  return (
    <div className={styles.part} data-testid="compare-differences">
      <div className={styles.toolbar}>
        <SearchInput label="Find rows" className={styles.find} defaultValue={wanted} onChange={(event) => change({ q: event.target.value })} />
        <Checkbox label="Only what differs" checked={isOnly} onChange={(event) => change({ rows: event.target.checked ? null : "all" })} data-testid="compare-only" />
        <span className="soft">{formatCount(rows.length)} rows</span>
      </div>
      {rows.length === 0 ? (
        <EmptyState icon="check" title={wanted ? "No row has such a name" : "Nothing differs"}>
          <Button onClick={() => change({ q: null, rows: "all" })}>Show all rows</Button>
        </EmptyState>
      ) : (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label="Table of differences">
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col" className={styles.corner}>
                  What
                </th>
                {runs.map((run) => (
                  <th key={run.id} scope="col" className={styles.column}>
                    <Swatch run={run} />
                    <Link to={`/runs/${encodeURIComponent(run.id)}`}>{run.label}</Link>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {SECTIONS.map((section) => {
                const own = shown.filter((row) => row.section === section);
                return own.length === 0 ? null : (
                  <Fragment key={section}>
                    <tr className={styles.section}>
                      <th scope="rowgroup" colSpan={runs.length + 1}>
                        {SECTION_WORDS[section]}
                      </th>
                    </tr>
                    {own.map((row) => (
                      <tr key={row.key} data-row={row.key}>
                        <th scope="row" title={row.label}>
                          {row.label}
                        </th>
                        {runs.map((run) => {
                          const cell = row.cells[run.place];
                          return (
                            <td key={run.id} data-other={cell?.isOther || undefined} data-number={cell?.isNumber || undefined} title={cell?.text}>
                              {cell?.text ?? "–"}
                            </td>
                          );
                        })}
                      </tr>
                    ))}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > most && <Button onClick={() => setMost(most + 1000)}>Show more of {formatCount(rows.length)} rows</Button>}
      {Object.values(comparison.more).some(Boolean) && <p className="soft">There are more rows than are listed here.</p>}
    </div>
  );
}
