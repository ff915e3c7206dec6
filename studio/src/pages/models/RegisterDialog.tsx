import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { Skeleton } from "@/components/Skeleton";
import { toast } from "@/components/toasts";
import { RunPicker } from "@/pages/run/RunPicker";
import { navigate } from "@/router/location";
import styles from "./Models.module.css";
import { nameProblem, registrable } from "./models";

interface Props {
  /** The run's id, or "choose". It is in the address, so that a run's page can lead here. */
  run: string;
  onRun: (id: string) => void;
  onClose: () => void;
}

/** A model from a run's outputs: first the run, then which of its files. */
export function Register({ run, onRun, onClose }: Props) {
  if (run === "choose") return <RunPicker title="Which run made the model?" without={[]} onPick={(picked) => onRun(picked.id)} onClose={onClose} />;
  return <RegisterDialog run={run} onClose={onClose} />;
}

function RegisterDialog({ run, onClose }: { run: string; onClose: () => void }) {
  const client = useQueryClient();
  const files = useQuery({ queryKey: keys.run(run, "artifacts"), queryFn: ({ signal }) => call("list_artifacts", { path: { run_id: run }, signal }) });
  const offered = registrable((files.data?.artifacts ?? []).map((file) => file.name));
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const path = chosen ?? offered[0] ?? "";
  const problem = nameProblem(name.trim());
  const register = useMutation({
    mutationFn: () => call("register_model", { body: { name: name.trim(), run_id: run, path, description } }),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: keys.models() });
      toast(`${made.name}, version ${made.version}, is registered`);
      navigate(`/models/${encodeURIComponent(made.name)}?version=${made.version}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem && path) register.mutate();
  };
  return (
    <Dialog
      title="Register a model"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" type="submit" form="register-model" isBusy={register.isPending} disabled={problem !== null || !path} data-testid="models-register-save">
            Register
          </Button>
        </>
      }
    >
      {files.isPending && <Skeleton lines={3} />}
      {files.error && !files.data && <ErrorNotice error={files.error} onRetry={() => void files.refetch()} />}
      {files.data && offered.length === 0 && <p>This run has left no files. What a script writes into <code>outputs</code> can be registered.</p>}
      {offered.length > 0 && (
        <form id="register-model" className={styles.form} onSubmit={submit}>
          <p className={styles.about}>
            Of the run <code>{run}</code>. Files are linked, not copied; a name that is there already gets its next version.
          </p>
          <Field label="Name" problem={register.error ? toApiError(register.error).message : undefined} hint={name ? (problem ?? undefined) : "Letters, digits, dots, dashes, underscores"}>
            {(ids) => <Input {...ids} autoFocus value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}
          </Field>
          <Field label="File or folder">
            {(ids) => (
              <Select {...ids} value={path} onChange={(event) => setChosen(event.target.value)}>
                {offered.slice(0, 500).map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Description">{(ids) => <Input {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
        </form>
      )}
    </Dialog>
  );
}
