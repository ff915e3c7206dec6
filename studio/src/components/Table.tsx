import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { classes } from "./classes";
import { Icon } from "./Icon";
import { extendTo, toggleRow } from "./selecting";
import styles from "./Table.module.css";
import { scrollFor, useRowsInSight } from "./virtual";

export interface Column<Row> {
  id: string;
  title: ReactNode;
  /** Where `title` is not text. */
  label?: string;
  /** As in CSS grid, and never by content, which is not all there: "minmax(12rem, 2fr)", "7rem". */
  width: string;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Given: the head is a button that sorts by this. */
  isSortable?: boolean;
  /** What it sorts by, where that is not its id. */
  sortId?: string;
  /** Stays in sight when the table is scrolled sideways. For the first column. */
  isSticky?: boolean;
  /** Left out on narrow screens. */
  isExtra?: boolean;
}

export interface Sort {
  id: string;
  ascending: boolean;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  sort?: Sort | null;
  onSort?: (sort: Sort) => void;
  /** Enter, or a click that hits nothing else. */
  onOpen?: (row: Row) => void;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: Set<string>) => void;
  /** Called when the end comes into sight: there are more on the server. */
  onEnd?: () => void;
  /** Shown below the last row. */
  foot?: ReactNode;
  /** As tall as its rows up to this; without it the table fills its place. */
  maxHeight?: string;
  /** When it changes (another sort, another filter) the table goes back to its top. */
  resetKey?: string;
  /** How many there are altogether, where not all are loaded. */
  total?: number | null;
  /** What is shown is of the question before. */
  isOld?: boolean;
  testId?: string;
}

const ROW = 34;

/** A table of any length: only rows in sight are drawn. Arrow keys move, Space selects (with Shift a range), Ctrl-A selects all, Enter opens. */
export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows, rowKey, sort, onSort, onOpen, selected, onSelect, onEnd, foot, maxHeight, resetKey, total, isOld, testId } = props;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const touched = useRef<string | null>(null); // the row that Shift goes on from
  const sight = useRowsInSight(box, rows.length, ROW);
  const { end } = sight;
  useEffect(() => {
    if (rows.length > 0 && end >= rows.length - 1) onEnd?.();
  }, [end, rows.length, onEnd]);

  useEffect(() => {
    setActive(0);
    touched.current = null;
    if (box.current) box.current.scrollTop = 0;
  }, [resetKey]);

  const template = [onSelect ? "34px" : "", ...columns.map((column) => column.width)].join(" ");
  const toggle = (at: number, isRange: boolean) => {
    const shown = rows.map(rowKey);
    const from = isRange && touched.current !== null ? shown.indexOf(touched.current) : -1;
    onSelect?.(toggleRow(shown, selected ?? new Set(), at, from < 0 ? null : from));
    touched.current = shown[at] ?? null;
  };
  const move = (to: number) => {
    const row = Math.max(0, Math.min(rows.length - 1, to));
    setActive(row);
    const element = box.current;
    const top = element && scrollFor(row, rows.length, ROW, element.scrollTop, element.clientHeight - ROW);
    if (element && top !== null) element.scrollTop = top;
  };
  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return; // a control inside has the keys for itself
    const page = Math.max(1, Math.floor(sight.viewHeight / ROW) - 2);
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1 }[event.key];
    const row = rows[active];
    if (to !== undefined) {
      if (event.shiftKey && onSelect) onSelect(extendTo(rows.map(rowKey), selected ?? new Set(), active, Math.max(0, Math.min(rows.length - 1, to))));
      move(to);
    } else if (event.key === "Enter" && row && onOpen) onOpen(row);
    else if (event.key === " " && row && onSelect) toggle(active, event.shiftKey);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey) && onSelect) onSelect(new Set(rows.map(rowKey)));
    else if (event.key === "Escape" && selected?.size && onSelect) onSelect(new Set());
    else return;
    event.preventDefault();
  };
  const isAllSelected = rows.length > 0 && rows.every((row) => selected?.has(rowKey(row)));

  return (
    <div className={styles.frame}>
      <div
        ref={box}
        className={classes(styles.box, isOld && styles.old)}
        style={{ maxHeight }}
        role="table"
        aria-label={label}
        aria-rowcount={(total ?? rows.length) + 1}
        aria-busy={isOld || undefined}
        tabIndex={0}
        onKeyDown={press}
        data-testid={testId}
      >
        <div className={styles.whole} role="presentation">
        <div role="rowgroup" className={styles.headGroup}>
          <div role="row" className={classes(styles.row, styles.head)} style={{ gridTemplateColumns: template }} aria-rowindex={1}>
            {onSelect && (
              <span role="columnheader" className={classes(styles.cell, styles.check)}>
                <input
                  type="checkbox"
                  aria-label="Select all that are shown"
                  checked={isAllSelected}
                  onChange={() => onSelect(isAllSelected ? new Set() : new Set(rows.map(rowKey)))}
                />
              </span>
            )}
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} isSecond={onSelect !== undefined} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles.rows} style={{ height: sight.height }}>
          <div className={styles.sight} style={{ transform: `translateY(${sight.offset}px)` }} role="presentation">
            {rows.slice(sight.first, sight.end).map((row, index) => {
              const at = sight.first + index;
              const key = rowKey(row);
              const isSelected = selected?.has(key) ?? false;
              return (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={at + 2}
                  aria-selected={onSelect ? isSelected : undefined}
                  data-row={key}
                  className={classes(styles.row, onOpen && styles.opens, isSelected && styles.selected, at === active && styles.active)}
                  style={{ gridTemplateColumns: template }}
                  onClick={(event) => {
                    setActive(at);
                    if (!(event.target as Element).closest("a, button, input, label") && !getSelection()?.toString()) onOpen?.(row);
                  }}
                >
                  {onSelect && (
                    <span role="cell" className={classes(styles.cell, styles.check)}>
                      <input type="checkbox" aria-label={`Select ${key}`} checked={isSelected} onChange={(event) => toggle(at, (event.nativeEvent as MouseEvent).shiftKey)} />
                    </span>
                  )}
                  {columns.map((column) => (
                    <span key={column.id} role="cell" className={classes(styles.cell, column.align && styles.right, column.isSticky && styles.sticky, column.isSticky && onSelect && styles.second)}>
                      {column.cell(row)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
        </div>
      </div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </div>
  );
}

function Head<Row>({ column, sort, onSort, isSecond }: { column: Column<Row>; sort?: Sort | null; onSort?: (sort: Sort) => void; isSecond: boolean }) {
  const by = column.sortId ?? column.id;
  const isSorted = sort?.id === by;
  const said = isSorted ? (sort.ascending ? "ascending" : "descending") : undefined;
  const canSort = column.isSortable && onSort;
  return (
    <span role="columnheader" aria-sort={said} className={classes(styles.cell, column.align && styles.right, column.isSticky && styles.sticky, column.isSticky && isSecond && styles.second)} title={column.label}>
      {canSort ? (
        <button type="button" className={styles.sort} onClick={() => onSort({ id: by, ascending: isSorted ? !sort.ascending : false })}>
          <span>{column.title}</span>
          {isSorted && <Icon name={sort.ascending ? "up" : "down"} size={12} />}
        </button>
      ) : (
        column.title
      )}
    </span>
  );
}
