import { useMemo, useState } from "react";
import { Icon } from "@/components/Icon";
import styles from "./Files.module.css";
import { jsonRows, type JsonRow } from "./jsonTree";

/** JSON that can be folded: small parts are open from the start. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => jsonRows(value, toggled), [value, toggled]);
  const toggle = (path: string) => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  return (
    <div className={styles.json} role="region" aria-label={`Content of ${label}`} tabIndex={0} data-testid="file-json">
      {rows.map((row) => (
        <div key={row.path} className={styles.jsonRow} style={{ paddingLeft: `${row.depth * 1.1}rem` }}>
          {row.isBranch ? (
            <button type="button" aria-expanded={row.isOpen} onClick={() => toggle(row.path)}>
              <Icon name={row.isOpen ? "down" : "right"} size={12} />
              {row.name !== null && <span className={styles.key}>{row.name}</span>}
              <span className={styles.said}>{row.said}</span>
            </button>
          ) : (
            <Leaf row={row} />
          )}
        </div>
      ))}
    </div>
  );
}

function Leaf({ row }: { row: JsonRow }) {
  if (row.said) return <span className={styles.said}>{row.said}</span>;
  const { value } = row;
  const kind = typeof value === "string" ? styles.text : typeof value === "number" ? styles.number : styles.word;
  return (
    <span className={styles.leaf}>
      {row.name !== null && <span className={styles.key}>{row.name}</span>}
      <span className={kind}>{JSON.stringify(value)}</span>
    </span>
  );
}
