import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Dataset } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast, toastError } from "@/components/toasts";
import styles from "./Data.module.css";

/** What people may change of a version: its description and its tags. */
export function EditDatasetDialog({ dataset, onClose }: { dataset: Dataset; onClose: () => void }) {
  const client = useQueryClient();
  const [description, setDescription] = useState(dataset.description);
  const [rows, setRows] = useState(() => [...Object.entries(dataset.tags).map(([key, value]) => ({ key, value: String(value ?? "") })), { key: "", value: "" }]);
  const save = useMutation({
    mutationFn: () => {
      const tags = Object.fromEntries(rows.filter((row) => row.key.trim()).map((row) => [row.key.trim(), row.value]));
      return call("change_dataset", { path: { name: dataset.name, version: dataset.version }, body: { description, tags, replace_tags: true } });
    },
    onError: toastError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.data() });
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
      title="Description and tags"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Leave as it was</Button>
          <Button variant="primary" isBusy={save.isPending} onClick={() => save.mutate()} data-testid="data-save">
            Save
          </Button>
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
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
