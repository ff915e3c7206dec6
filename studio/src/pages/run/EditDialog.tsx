import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Button, IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast, toastError } from "@/components/toasts";
import styles from "./RunPage.module.css";
import type { Run } from "./tabs";

/** What people may change of a run: its name, its description, its tags. */
export function EditDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(run.display_name);
  const [description, setDescription] = useState(run.description);
  const [rows, setRows] = useState(() => [...Object.entries(run.tags).map(([key, value]) => ({ key, value: value ?? "" })), { key: "", value: "" }]);
  const save = useMutation({
    mutationFn: () => {
      const tags = Object.fromEntries(rows.filter((row) => row.key.trim()).map((row) => [row.key.trim(), row.value]));
      const gone = Object.keys(run.tags).filter((key) => !(key in tags));
      return call("change_run", { path: { run_id: run.id }, body: { display_name: name, description, tags, remove_tags: gone } });
    },
    onError: toastError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.run(run.id) });
      toast("Saved");
      onClose();
    },
  });
  const setRow = (at: number, patch: Partial<{ key: string; value: string }>) => {
    const next = rows.map((row, index) => (index === at ? { ...row, ...patch } : row));
    setRows(next[next.length - 1]?.key ? [...next, { key: "", value: "" }] : next);
  };
  return (
    <Dialog
      title="Name, description, tags"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Leave as it was</Button>
          <Button variant="primary" isBusy={save.isPending} onClick={() => save.mutate()} data-testid="run-save">
            Save
          </Button>
        </>
      }
    >
      <form
        className={styles.field}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field label="Name">{(ids) => <Input {...ids} value={name} maxLength={500} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label="Description">{(ids) => <Input {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
        {rows.map((row, at) => (
          <div key={at} className={styles.tagRow}>
            <Field label={`Tag ${at + 1}`} isLabelHidden={at > 0}>
              {(ids) => <Input {...ids} placeholder="name" value={row.key} onChange={(event) => setRow(at, { key: event.target.value })} />}
            </Field>
            <Field label={`Value of tag ${at + 1}`} isLabelHidden={at > 0}>
              {(ids) => <Input {...ids} placeholder="value" value={row.value} onChange={(event) => setRow(at, { value: event.target.value })} />}
            </Field>
            <IconButton icon="close" label={`Take tag ${at + 1} away`} disabled={!row.key} onClick={() => setRows(rows.filter((_, index) => index !== at))} />
          </div>
        ))}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
