import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { toast } from "@/components/toasts";
import { nameProblem } from "@/pages/models/models";
import { navigate } from "@/router/location";
import styles from "../Designer.module.css";

/** Where a module that trains leaves its model among its run's files. */
const FOLDER = "trained_model_outputs";

/** The model of a training becomes a registered one, and on wish an endpoint: without a line of code, by what the model says of itself. */
export function RegisterModel({ run, suggested, onClose }: { run: string; suggested: string; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(suggested);
  const register = useMutation({
    mutationFn: async (isDeployed: boolean) => ({ made: await call("register_model", { body: { name: name.trim(), run_id: run, path: FOLDER } }), isDeployed }),
    onSuccess: ({ made, isDeployed }) => {
      void client.invalidateQueries({ queryKey: keys.models() });
      toast(`${made.name}, version ${made.version}, is registered`);
      onClose();
      if (isDeployed) navigate(`/endpoints?deploy=${encodeURIComponent(made.name)}`);
    },
  });
  const problem = nameProblem(name.trim());
  return (
    <Dialog
      title="Register the trained model"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button isBusy={register.isPending} disabled={problem !== null} type="submit" form="register-trained" data-testid="designer-register-model-now">
            Register
          </Button>
          <Button variant="primary" icon="endpoint" isBusy={register.isPending} disabled={problem !== null} onClick={() => register.mutate(true)} data-testid="designer-deploy">
            Register and deploy
          </Button>
        </>
      }
    >
      <form
        id="register-trained"
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (problem === null) register.mutate(false);
        }}
      >
        <p className={styles.about}>Files are linked, not copied. A name that is there already gets its next version.</p>
        <Field label="Name" problem={register.error ? toApiError(register.error).message : name && problem ? problem : undefined}>
          {(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}
        </Field>
      </form>
    </Dialog>
  );
}
