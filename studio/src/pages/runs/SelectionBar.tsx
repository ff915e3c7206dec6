import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { TableRun } from "@/api/types";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Confirm } from "@/components/Dialog";
import { formatCount, plural } from "@/components/format";
import type { IconName } from "@/components/Icon";
import { Menu } from "@/components/Menu";
import { isOver } from "@/components/StatusPill";
import { toast, toastError } from "@/components/toasts";
import { compareAddress, MOST_RUNS } from "@/pages/compare/address";
import { navigate } from "@/router/location";
import { usePageCommands } from "@/shell/pageCommands";
import { MOST_COLLECTED } from "./collect";
import { actInPortions, OPPOSITE, outcomeOf, type Action } from "./outcome";
import styles from "./Runs.module.css";
import { TagDialog } from "./TagDialog";

interface Props {
  selected: ReadonlySet<string>;
  rows: readonly TableRun[];
  total: number | null;
  view: string;
  onSelect: (ids: Set<string>) => void;
  /** Rows that are gone from this list. */
  onGone: (ids: ReadonlySet<string>) => void;
  /** Gets the ids of all that fit, loaded or not. */
  collect: (onFound: (count: number) => void) => Promise<string[]>;
}

interface Asked {
  action: Action;
  ids: string[];
  tags?: Record<string, string>;
  remove?: string[];
}

/** What can be done with the runs that are selected. */
export function SelectionBar({ selected, rows, total, view, onSelect, onGone, collect }: Props) {
  const mayChange = useMay("contributor");
  const client = useQueryClient();
  const [asking, setAsking] = useState<Action | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const act = useMutation({
    mutationFn: async ({ action, ids, tags, remove }: Asked) => {
      const results = await actInPortions(
        ids,
        async (run_ids) => (await call("act_on_runs", { body: { action, run_ids, tags, remove_tags: remove } })).results,
        (count) => count < ids.length && setProgress(`${formatCount(count)} of ${formatCount(ids.length)} done`),
      );
      return outcomeOf(action, results);
    },
    onError: toastError,
    onSuccess: (outcome, { action }) => {
      const back = OPPOSITE[action];
      const undo = back && outcome.done.length ? { label: "Undo", run: () => act.mutate({ action: back, ids: outcome.done }) } : undefined;
      const look = outcome.fresh.length === 1 ? { label: "Open it", run: () => navigate(`/runs/${encodeURIComponent(outcome.fresh[0] as string)}`) } : undefined;
      toast(outcome.text, outcome.tone, undo ?? look);
      if (leaves(action, view)) onGone(new Set(outcome.done));
      if (action !== "tag") onSelect(new Set());
    },
    onSettled: () => {
      setAsking(null);
      setProgress(null);
      void client.invalidateQueries({ queryKey: keys.runs() });
      void client.invalidateQueries({ queryKey: ["names"] });
    },
  });
  const all = useMutation({
    mutationFn: () => collect((count) => setProgress(`${formatCount(count)} found`)),
    onError: toastError,
    onSuccess: (ids) => {
      onSelect(new Set(ids));
      if (total !== null && ids.length < total && ids.length >= MOST_COLLECTED) toast(`The first ${formatCount(MOST_COLLECTED)} are selected: no more are done at once.`, "info");
    },
    onSettled: () => setProgress(null),
  });
  const ids = [...selected];
  const known = rows.filter((run) => selected.has(run.id));
  const isWhole = known.length === selected.size;
  const hasLive = !isWhole || known.some((run) => !isOver(run.status));
  const hasOver = !isWhole || known.some((run) => isOver(run.status));
  const isBusy = act.isPending || all.isPending;
  const canAll = total !== null && total > rows.length && selected.size >= rows.length && selected.size < total;
  const words = plural(ids.length, "run");
  const canChange = mayChange && view !== "bin";
  const ask = (action: Action, icon: IconName) => ({ title: `${VERBS[action] ?? "Tag"} ${words}`, words: "selected", icon, run: () => setAsking(action) });
  usePageCommands(canChange ? [ask("tag", "tag"), ...(hasLive ? [ask("cancel", "stop")] : []), ...(hasOver ? [ask("resubmit", "again")] : []), ask("delete", "trash")] : []);
  return (
    <div className={styles.selection} role="region" aria-label="Selected runs" data-testid="runs-selection">
      <strong aria-live="polite">{progress ?? `${formatCount(ids.length)} selected`}</strong>
      <Button variant="quiet" icon="close" onClick={() => onSelect(new Set())}>
        Clear
      </Button>
      {canAll && (
        <Button variant="quiet" isBusy={isBusy} onClick={() => all.mutate()} data-testid="select-all">
          {`Select all ${formatCount(total)} that fit`}
        </Button>
      )}
      <span className={styles.gap} />
      <Button icon="compare" disabled={ids.length < 2 || ids.length > MOST_RUNS} title={ids.length > MOST_RUNS ? `At most ${MOST_RUNS} at once` : ids.length < 2 ? "Select at least two" : undefined} onClick={() => navigate(compareAddress(ids))} data-testid="select-compare">
        Compare
      </Button>
      {mayChange && view === "bin" && (
        <Button icon="again" isBusy={isBusy} onClick={() => act.mutate({ action: "restore", ids })} data-testid="select-restore">
          Take out of the bin
        </Button>
      )}
      {canChange && (
        <>
          <Button icon="tag" isBusy={isBusy} onClick={() => setAsking("tag")} data-testid="select-tag">
            Tag
          </Button>
          {hasLive && (
            <Button icon="stop" isBusy={isBusy} onClick={() => setAsking("cancel")} data-testid="select-cancel">
              Cancel
            </Button>
          )}
          {hasOver && (
            <Button icon="again" isBusy={isBusy} onClick={() => (ids.length === 1 ? act.mutate({ action: "resubmit", ids }) : setAsking("resubmit"))} data-testid="select-resubmit">
              Resubmit
            </Button>
          )}
          <Menu
            label="More to do with them"
            isIconOnly
            items={[
              view === "archive" ? { label: "Take out of the archive", icon: "folder", run: () => act.mutate({ action: "unarchive", ids }) } : { label: "Archive", icon: "folder", run: () => act.mutate({ action: "archive", ids }) },
              { label: "Delete", icon: "trash", isDangerous: true, run: () => setAsking("delete") },
            ]}
          />
        </>
      )}
      {asking === "tag" && <TagDialog count={ids.length} known={known} isBusy={isBusy} onClose={() => setAsking(null)} onDone={(tags, remove) => act.mutate({ action: "tag", ids, tags, remove })} />}
      {asking !== null && asking !== "tag" && (
        <Confirm title={`${VERBS[asking]} ${words}?`} verb={`${VERBS[asking]} ${words}`} isDangerous={asking !== "resubmit"} isBusy={isBusy} onConfirm={() => act.mutate({ action: asking, ids })} onClose={() => setAsking(null)}>
          <p>{SAYS[asking]}</p>
        </Confirm>
      )}
    </div>
  );
}

const VERBS: Partial<Record<Action, string>> = { cancel: "Cancel", resubmit: "Resubmit", delete: "Delete" };
const SAYS: Partial<Record<Action, string>> = {
  cancel: "Those that wait or run are asked to stop. What they have written stays. Those that have ended are left as they are.",
  resubmit: "Each is submitted again with the code, arguments and environment it had, as a new run. Those that still run are left as they are.",
  delete: "They go to the bin, with their metrics, logs and outputs, and can be taken back from there until the bin is emptied. Those that still run are left as they are.",
};

/** Whether a run is no longer in this list after that. */
function leaves(action: Action, view: string): boolean {
  if (action === "delete") return view !== "bin";
  if (action === "restore") return view === "bin";
  return action === "archive" ? view === "" : action === "unarchive" && view === "archive";
}
