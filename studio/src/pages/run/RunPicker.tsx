import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { call, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { Skeleton } from "@/components/Skeleton";
import { StatusPill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import styles from "./RunPicker.module.css";

export type PickedRun = Answer<"search_runs">["runs"][number];

interface Props {
  title: string;
  /** Those of this experiment come first, while nothing is typed. */
  experiment?: string;
  /** Left out: the run itself, those chosen already. */
  without: readonly string[];
  onPick: (run: PickedRun) => void;
  onClose: () => void;
}

const MOST = 30;
const NO_COLUMNS = { metrics: [], params: [], tags: [] };

/** A dialog to choose another run: the newest ones, or those that have the words typed. */
export function RunPicker({ title, experiment, without, onPick, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const text = useDeferredValue(typed.trim());
  const question = { text, limit: MOST + without.length, columns: NO_COLUMNS, experiments: text || !experiment ? [] : [experiment] };
  const asked = useQuery({ queryKey: keys.runs({ picker: question }), queryFn: ({ signal }) => call("search_runs", { body: question, signal }), placeholderData: (before) => before });
  const found = (asked.data?.runs ?? []).filter((run) => !without.includes(run.id)).slice(0, MOST);
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div className={styles.picker} data-testid="run-picker">
        <SearchInput autoFocus label="Name, id, experiment or description" value={typed} onChange={(event) => setTyped(event.target.value)} data-testid="run-picker-find" />
        {!asked.data && asked.isPending && <Skeleton lines={6} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data && found.length === 0 && <p className="soft">{text ? "No other run has these words." : experiment ? "There is no other run in this experiment. Type a name to find one elsewhere." : "There is no other run."}</p>}
        <ul className={styles.list} aria-label="Runs to choose from">
          {found.map((run) => (
            <li key={run.id}>
              <button type="button" onClick={() => onPick(run)} data-row={run.id}>
                <span className={styles.name}>{run.display_name || run.id}</span>
                <StatusPill status={run.status} />
                <span className={styles.about}>
                  {run.experiment} · <Ago time={run.created_utc} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
