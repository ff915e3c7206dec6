import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast } from "@/components/toasts";
import styles from "../Designer.module.css";
import type { StepOutput } from "../graph/steps";
import { RegisterModel } from "./RegisterModel";

interface Props {
  output: StepOutput;
  type: string;
  /** Who made it: where a step was reused, the run that it was taken from. */
  run: string | null;
  port: string;
  /** What a model of it might be called. */
  suggested: string;
}

/** Gives what a module has made a name: as a data set, and a trained model as a model. */
export function RegisterOutput({ output, type, run, port, suggested }: Props) {
  const mayEdit = useMay("contributor");
  const [open, setOpen] = useState<"data" | "model" | null>(null);
  if (!mayEdit || typeof output.definition_id !== "string") return null;
  return (
    <div className={styles.tools}>
      <Button icon="data" onClick={() => setOpen("data")} data-testid="designer-register-data">
        Register as a data set
      </Button>
      {type === "ModelDirectory" && run && (
        <Button icon="model" onClick={() => setOpen("model")} data-testid="designer-register-model">
          Register as a model
        </Button>
      )}
      {open === "model" && run && <RegisterModel run={run} suggested={suggested} onClose={() => setOpen(null)} />}
      {open === "data" && <DataDialog definition={output.definition_id} suggested={port} onClose={() => setOpen(null)} />}
    </div>
  );
}

function DataDialog({ definition, suggested, onClose }: { definition: string; suggested: string; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(suggested);
  const register = useMutation({
    mutationFn: () => call("register_dataset", { body: { name: name.trim(), definition_id: definition } }),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: keys.data() });
      toast(`${made.name}, version ${made.version}, is registered`);
      onClose();
    },
  });
  return (
    <Dialog
      title="Register as a data set"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" type="submit" form="register-output" isBusy={register.isPending} disabled={name.trim() === ""}>
            Register
          </Button>
        </>
      }
    >
      <form
        id="register-output"
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          register.mutate();
        }}
      >
        <Field label="Name" hint="One that is there gets its next version" problem={register.error ? toApiError(register.error).message : undefined}>
          {(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}
        </Field>
      </form>
    </Dialog>
  );
}
