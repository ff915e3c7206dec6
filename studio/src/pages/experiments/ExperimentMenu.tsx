import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Experiment, ExperimentChange } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast, toastError } from "@/components/toasts";
import styles from "./Experiments.module.css";

/** Rename, archive, or (while it has no runs) delete an experiment. */
export function ExperimentMenu({ experiment }: { experiment: Experiment }) {
  const mayChange = useMay("contributor");
  const [isOpen, setOpen] = useState(false);
  if (!mayChange) return null;
  return (
    <>
      <IconButton icon="more" label={`Change ${experiment.name}`} className={styles.more} onClick={() => setOpen(true)} />
      {isOpen && <ChangeDialog experiment={experiment} onClose={() => setOpen(false)} />}
    </>
  );
}

function ChangeDialog({ experiment, onClose }: { experiment: Experiment; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(experiment.name);
  const isArchived = experiment.archived_utc !== null;
  const after = (words: string, undo?: () => void) => {
    void client.invalidateQueries({ queryKey: keys.experiments });
    void client.invalidateQueries({ queryKey: keys.runs() });
    toast(words, "good", undo && { label: "Undo", run: undo });
    onClose();
  };
  const change = useMutation({
    mutationFn: (body: ExperimentChange) => call("change_experiment", { path: { name: experiment.name }, body }),
    onError: toastError,
    onSuccess: (_, body) => {
      if (body.archived === undefined) after("Renamed");
      else after(body.archived ? `${experiment.name} is archived` : `${experiment.name} is in use again`, () => change.mutate({ archived: !body.archived }));
    },
  });
  const remove = useMutation({ mutationFn: () => call("delete_experiment", { path: { name: experiment.name } }), onError: toastError, onSuccess: () => after(`${experiment.name} is deleted`) });
  const isBusy = change.isPending || remove.isPending;
  return (
    <Dialog
      title={experiment.name}
      onClose={onClose}
      actions={
        <>
          {experiment.run_count === 0 && (
            <Button variant="danger" isBusy={isBusy} onClick={() => remove.mutate()}>
              Delete
            </Button>
          )}
          <Button icon="folder" isBusy={isBusy} onClick={() => change.mutate({ archived: !isArchived })} data-testid="experiment-archive">
            {isArchived ? "Take out of the archive" : "Archive"}
          </Button>
          <Button variant="primary" type="submit" form="rename-form" isBusy={isBusy} disabled={!name.trim() || name.trim() === experiment.name}>
            Rename
          </Button>
        </>
      }
    >
      <form
        id="rename-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() && name.trim() !== experiment.name) change.mutate({ name: name.trim() });
        }}
      >
        <Field label="Name" hint="Scripts that submit to the old name make a new experiment.">
          {(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
      </form>
    </Dialog>
  );
}
