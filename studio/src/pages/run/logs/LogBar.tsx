import { useEffect, useRef, useState } from "react";
import { urlOf } from "@/api/client";
import { Button, IconButton } from "@/components/Button";
import { Checkbox, SearchInput, Select } from "@/components/Field";
import { formatBytes, formatCount, plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import styles from "./Logs.module.css";
import { toChoices, type Log } from "./names";
import { nextPlace, placeOf } from "./places";
import type { Find } from "./useFind";
import { useSearch } from "@/router/location";

const WAIT_MS = 300; // after the last key, before the keeper looks

interface Props {
  run: string;
  name: string;
  logs: readonly Log[];
  total: number;
  size: number;
  find: Find;
  /** Lines that tell of errors. */
  errors: readonly number[];
  at: number | null;
  onGo: (line: number) => void;
  onLog: (name: string) => void;
  isFollowing: boolean;
  onFollow: (next: boolean) => void;
  isLive: boolean;
  isWrapped: boolean;
  onWrap: (next: boolean) => void;
}

/** Which log, what is looked for in it, where its errors are, and how it is shown. */
export function LogBar(props: Props) {
  const { run, name, logs, total, size, find, errors, at, onGo, onLog, isFollowing, onFollow, isLive, isWrapped, onWrap } = props;
  const place = placeOf(errors, at);
  const toError = (step: 1 | -1) => {
    const found = nextPlace(errors, at ?? (step === 1 ? -1 : total), step);
    if (found !== null) onGo(found);
  };
  return (
    <div className={styles.bar}>
      <Select aria-label="Log" value={name} onChange={(event) => onLog(event.target.value)} className={styles.picker} data-testid="log-picker">
        {toChoices(logs).map((choice) => (
          <optgroup key={choice.folder} label={choice.folder || "Logs"}>
            {choice.logs.map((log) => (
              <option key={log.name} value={log.name}>
                {log.label} ({formatBytes(log.size)})
              </option>
            ))}
          </optgroup>
        ))}
      </Select>
      <FindBox find={find} at={at} />
      {errors.length > 0 && (
        <span className={styles.stepper} role="group" aria-label="Errors">
          <span className={styles.errors} data-testid="log-errors">
            <Icon name="failed" size={14} />
            {place === null ? plural(errors.length, "error") : `${formatCount(place)} of ${plural(errors.length, "error")}`}
          </span>
          <IconButton icon="up" label="Previous error" onClick={() => toError(-1)} />
          <IconButton icon="down" label="Next error" onClick={() => toError(1)} />
        </span>
      )}
      <span className={styles.right}>
        <span className={styles.size} data-testid="log-total">
          {plural(total, "line")}, {formatBytes(size)}
        </span>
        <Checkbox label="Wrap" checked={isWrapped} onChange={(event) => onWrap(event.target.checked)} data-testid="log-wrap" />
        <Button icon="down" aria-pressed={isFollowing} onClick={() => onFollow(!isFollowing)} className={isFollowing ? styles.on : undefined} data-testid="log-follow">
          {isLive ? (isFollowing ? "Following" : "Follow") : "To the end"}
        </Button>
        <a className={styles.download} href={urlOf("read_log", { run_id: run, name })} download={name.replaceAll("/", "_")} aria-label={`Download ${name}`}>
          <Icon name="download" /> Download
        </a>
      </span>
    </div>
  );
}

function FindBox({ find, at }: { find: Find; at: number | null }) {
  const [, change] = useSearch();
  const [typed, setTyped] = useState(find.text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (typed === find.text) return;
    const timer = setTimeout(() => change({ find: typed }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed, find.text, change]);
  const place = placeOf(find.lines, at);
  const all = `${formatCount(find.lines.length)}${find.hasMore ? "+" : ""}`;
  const words = find.error ? "failed" : find.isLooking ? "looking…" : find.count === 0 ? "not found" : place === null ? plural(find.lines.length, "line") : `${formatCount(place)} of ${all}`;
  return (
    <span className={styles.stepper} role="search">
      <SearchInput
        ref={field}
        label="Find in this log"
        value={typed}
        className={styles.find}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          if (typed !== find.text) change({ find: typed });
          else if (event.shiftKey) find.previous();
          else find.next();
        }}
        data-testid="log-find"
      />
      {find.text && (
        <>
          <span className={styles.found} aria-live="polite" data-testid="log-found">
            {words}
          </span>
          <IconButton icon="up" label="Previous match" onClick={find.previous} disabled={find.count === 0} />
          <IconButton icon="down" label="Next match" onClick={find.next} disabled={find.count === 0} />
        </>
      )}
    </span>
  );
}
