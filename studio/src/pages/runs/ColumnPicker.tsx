import { useState } from "react";
import type { KnownNames } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { copyText } from "@/components/CopyButton";
import { SearchInput } from "@/components/Field";
import { Popup } from "@/components/Menu";
import { toast } from "@/components/toasts";
import { FIXED, formatColumns, moveColumn, splitId, type ColumnId } from "./choice";
import styles from "./Filters.module.css";

const KINDS: Record<string, string> = { "": "field", chart: "metric with chart", metric: "metric", param: "parameter", tag: "tag" };
const MOST_OFFERED = 60;

interface Props {
  chosen: readonly ColumnId[];
  names: KnownNames | undefined;
  /** Null: as if nobody had chosen. */
  onChange: (ids: ColumnId[] | null) => void;
}

/** Which columns, and in which order. Remembered by the page. */
export function ColumnPicker({ chosen, names, onChange }: Props) {
  const [text, setText] = useState("");
  const offered = offersOf(names)
    .filter((id) => !chosen.includes(id) && titleOf(id).toLowerCase().includes(text.trim().toLowerCase()))
    .slice(0, MOST_OFFERED);
  const share = () => {
    const url = new URL(location.href);
    url.searchParams.set("columns", formatColumns(chosen));
    copyText(url.toString()).then(
      () => toast("The address of this view, with these columns, is copied", "info"),
      () => toast("The browser does not allow copying here.", "bad"),
    );
  };
  return (
    <Popup label="Columns" icon="columns" testId="runs-columns">
      <div className={styles.picker}>
        <p className={styles.listHead}>Shown, in this order</p>
        <ul className={styles.list} aria-label="Columns shown" data-testid="columns-shown">
          {chosen.map((id, at) => (
            <li key={id} className={styles.column}>
              <Title id={id} />
              {id !== "name" && (
                <>
                  <IconButton icon="up" label={`Move ${titleOf(id)} to the left`} disabled={at <= 1} onClick={() => onChange(moveColumn(chosen, id, -1))} />
                  <IconButton icon="down" label={`Move ${titleOf(id)} to the right`} disabled={at === chosen.length - 1} onClick={() => onChange(moveColumn(chosen, id, 1))} />
                  <IconButton icon="close" label={`Hide ${titleOf(id)}`} onClick={() => onChange(chosen.filter((each) => each !== id))} />
                </>
              )}
            </li>
          ))}
        </ul>
        <SearchInput label="Add a metric, parameter, tag or field" value={text} onChange={(event) => setText(event.target.value)} data-testid="columns-search" />
        <ul className={styles.list} aria-label="Columns that can be added" data-testid="columns-offered">
          {offered.map((id) => (
            <li key={id} className={styles.column}>
              <Title id={id} />
              <IconButton icon="plus" label={`Show ${titleOf(id)}${splitId(id)[0] === "chart" ? " with chart" : ""}`} onClick={() => onChange([...chosen, id])} />
            </li>
          ))}
          {offered.length === 0 && <li className={styles.column}>Nothing else is called that.</li>}
        </ul>
        <div className={styles.pickerFoot}>
          <Button variant="quiet" onClick={() => onChange(null)}>
            As at first
          </Button>
          <Button variant="quiet" icon="copy" onClick={share}>
            Copy link
          </Button>
        </div>
      </div>
    </Popup>
  );
}

function Title({ id }: { id: ColumnId }) {
  return (
    <span title={titleOf(id)}>
      {titleOf(id)}
      <small>{KINDS[splitId(id)[0]]}</small>
    </span>
  );
}

function titleOf(id: ColumnId): string {
  const [kind, name] = splitId(id);
  return kind ? name : (FIXED[id] ?? id);
}

function offersOf(names: KnownNames | undefined): ColumnId[] {
  const of = (kind: string, list: KnownNames["metrics"] | undefined) => (list ?? []).map((each) => `${kind}:${each.name}`);
  const metrics = (names?.metrics ?? []).flatMap((each) => [`chart:${each.name}`, `metric:${each.name}`]);
  return [...metrics, ...of("param", names?.params), ...of("tag", names?.tags), ...Object.keys(FIXED)];
}
