import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from "react";
import { classes } from "./classes";
import styles from "./Tabs.module.css";

export interface Tab {
  id: string;
  label: string;
  /** A number beside the word: how many there are. */
  count?: number | string;
  content: () => ReactNode;
}

interface Props {
  tabs: readonly Tab[];
  selected: string;
  onSelect: (id: string) => void;
  label: string;
}

/** Tabs with arrow keys. Which one is selected belongs into the address (`useSearch`), so it is given from outside. */
export function Tabs({ tabs, selected, onSelect, label }: Props) {
  const prefix = useId();
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find((tab) => tab.id === selected) ?? tabs[0];
  const shown = current?.id;
  useEffect(() => {
    const bar = list.current;
    const box = bar?.querySelector(`[data-tab="${CSS.escape(shown ?? "")}"]`)?.getBoundingClientRect();
    if (!bar || !box) return;
    const room = bar.getBoundingClientRect();
    // On a phone the one that is open may lie beyond the edge. The bar alone moves, never the page.
    if (box.left < room.left || box.right > room.right) bar.scrollLeft += box.left - room.left - (room.width - box.width) / 2;
  }, [shown]);
  if (!current) return null;
  const move = (event: KeyboardEvent) => {
    const at = tabs.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length] as Tab;
    onSelect(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} className={styles.list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            data-testid={`tab-${tab.id}`}
            id={`${prefix}-${tab.id}`}
            aria-selected={tab === current}
            aria-controls={`${prefix}-panel`}
            tabIndex={tab === current ? 0 : -1}
            className={classes(styles.tab, tab === current && styles.selected)}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
            {tab.count !== undefined && <span className={styles.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${prefix}-panel`} aria-labelledby={`${prefix}-${current.id}`} tabIndex={0} className={styles.panel}>
        {current.content()}
      </div>
    </>
  );
}
