import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, urlOf } from "@/api/client";
import { ApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Confirm } from "@/components/Dialog";
import { Menu, type MenuItem } from "@/components/Menu";
import { isOver } from "@/components/StatusPill";
import { toast, toastError } from "@/components/toasts";
import { navigate, useSearch } from "@/router/location";
import { usePageCommands } from "@/shell/pageCommands";
import { compareAddress } from "../compare/address";
import { EditDialog } from "./EditDialog";
import styles from "./RunPage.module.css";
import { tabs, type Overview } from "./tabs";

type Action = Parameters<typeof call<"act_on_runs">>[1]["body"]["action"];

/** What can be done with a run: cancel, resubmit, edit, archive, delete. Hidden from those who may only read. */
export function RunActions({ overview }: { overview: Overview }) {
  const { run } = overview;
  const mayChange = useMay("contributor");
  const client = useQueryClient();
  const [, change] = useSearch();
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const act = useMutation({
    mutationFn: async (action: Action) => {
      const { results } = await call("act_on_runs", { body: { action, run_ids: [run.id] } });
      const result = results[0];
      if (!result?.ok) throw new ApiError(400, result?.error?.code ?? "error", result?.error?.message ?? "The keeper did not say what happened.");
      return { action, newRun: result.new_run_id };
    },
    onError: toastError,
    onSuccess: ({ action, newRun }) => {
      setDeleting(false);
      void client.invalidateQueries({ queryKey: keys.run(run.id) });
      void client.invalidateQueries({ queryKey: keys.runs() });
      if (action === "cancel") toast("Asked it to stop");
      if (action === "resubmit" && newRun) {
        toast("Submitted again: this is the new run");
        navigate(`/runs/${encodeURIComponent(newRun)}`);
      }
      if (action === "delete") toast("The run is in the bin", "good", { label: "Undo", run: () => act.mutate("restore") });
      if (action === "restore") toast("The run is back");
    },
  });
  const isLive = !isOver(run.status);
  const isDeleted = overview.deleted_utc !== null;
  const canRepeat = run.kind !== "child" && run.snapshot_id !== null;
  usePageCommands([
    ...(mayChange && isLive ? [{ title: "Cancel this run", icon: "stop" as const, words: "stop end", run: () => act.mutate("cancel") }] : []),
    ...(mayChange && !isLive && canRepeat ? [{ title: "Resubmit this run", icon: "again" as const, words: "again repeat", run: () => act.mutate("resubmit") }] : []),
    ...(mayChange ? [{ title: "Change this run's name, description, tags", icon: "tag" as const, words: "rename edit", run: () => setEditing(true) }] : []),
    ...(mayChange && !isLive && !isDeleted ? [{ title: "Delete this run", icon: "trash" as const, words: "remove bin", run: () => setDeleting(true) }] : []),
  ]);
  if (!mayChange) return null;

  const items: MenuItem[] = [
    { label: "Name, description, tags", icon: "tag", run: () => setEditing(true) },
    ...(canRepeat && tabs.some((tab) => tab.id === "reproduce") ? [{ label: "Reproduce: what differs now", icon: "again" as const, run: () => change({ tab: "reproduce" }, { push: true }) }] : []),
    { label: "Compare with other runs", icon: "compare", run: () => navigate(compareAddress([run.id])) },
    ...(overview.artifacts.files > 0 ? [{ label: "Register a model of its files", icon: "model" as const, run: () => navigate(`/models?register=${encodeURIComponent(run.id)}`) }] : []),
    { label: "Download metrics as CSV", icon: "download", isDisabled: overview.metrics.length === 0, run: () => location.assign(urlOf("download_metrics", { run_id: run.id })) },
    overview.archived ? { label: "Take out of the archive", icon: "folder", run: () => act.mutate("unarchive") } : { label: "Archive", icon: "folder", run: () => act.mutate("archive") },
    isDeleted
      ? { label: "Take out of the bin", icon: "trash", run: () => act.mutate("restore") }
      : { label: "Delete", icon: "trash", isDangerous: true, isDisabled: isLive, run: () => setDeleting(true) },
  ];
  return (
    <div className={styles.actions}>
      {isLive && (
        <Button variant="danger" icon="stop" isBusy={act.isPending || run.status === "CancelRequested"} onClick={() => act.mutate("cancel")} data-testid="run-cancel">
          Cancel
        </Button>
      )}
      {!isLive && canRepeat && (
        <Button icon="again" isBusy={act.isPending} onClick={() => act.mutate("resubmit")} data-testid="run-resubmit">
          Resubmit
        </Button>
      )}
      <Menu label="More to do with this run" isIconOnly items={items} />
      {isEditing && <EditDialog run={run} onClose={() => setEditing(false)} />}
      {isDeleting && (
        <Confirm title="Delete this run?" verb="Delete the run" isDangerous isBusy={act.isPending} onConfirm={() => act.mutate("delete")} onClose={() => setDeleting(false)}>
          <p>
            <strong>{run.display_name || run.id}</strong> goes to the bin, with its metrics, logs and outputs. It can be taken back from there until the bin is emptied.
          </p>
        </Confirm>
      )}
    </div>
  );
}
