import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { Skeleton } from "@/components/Skeleton";
import { Words } from "@/components/Words";
import { navigate } from "@/router/location";
import styles from "./Endpoints.module.css";
import { freeName } from "./endpoints";

/** Puts a model behind an address without a line of code; a scoring script of one's own goes through the SDK or `rookery deploy`. */
export function DeployDialog({ model, taken, onClose }: { model: string | null; taken: readonly string[]; onClose: () => void }) {
  const asked = useQuery({ queryKey: keys.models("latest"), queryFn: ({ signal }) => call("list_models", { query: { latest: true }, signal }) });
  const [chosen, setChosen] = useState(model);
  const [typed, setTyped] = useState<string | null>(null);
  const [auth, setAuth] = useState(false);
  const client = useQueryClient();
  const models = asked.data?.models ?? [];
  const one = chosen ?? models[0]?.name ?? "";
  const name = typed ?? freeName(one, taken);
  const deploy = useMutation({
    mutationFn: () => call("create_endpoint", { body: { name, models: [{ name: one }], auth_enabled: auth } }),
    onSuccess: (made) => {
      client.setQueryData(keys.endpoints("one", made.name), made);
      void client.invalidateQueries({ queryKey: keys.endpoints("list") });
      navigate(`/endpoints/${encodeURIComponent(made.name)}`);
    },
  });
  const isTaken = taken.includes(name);
  return (
    <Dialog
      title="Deploy a model"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button variant="primary" isBusy={deploy.isPending} disabled={!one || !name || isTaken} onClick={() => deploy.mutate()} data-testid="endpoints-deploy-go">
            Deploy
          </Button>
        </>
      }
    >
      {asked.isPending && <Skeleton lines={3} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && models.length === 0 && <p className={styles.about}>There is no model yet. Register one from a run's page, or with <code>rookery models register</code>.</p>}
      {models.length > 0 && (
        <form className={styles.form} onSubmit={(event) => event.preventDefault()}>
          <Field label="Model" hint="The latest version. ONNX, PyTorch and scikit-learn models need no code.">
            {(ids) => (
              <Select {...ids} value={one} onChange={(event) => setChosen(event.target.value)} data-testid="endpoints-deploy-model">
                {models.map((each) => (
                  <option key={each.name} value={each.name}>
                    {each.name}:{each.version}
                    {each.framework ? ` (${each.framework})` : ""}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Name of the endpoint" problem={isTaken ? "There is one of that name." : undefined}>
            {(ids) => <Input {...ids} value={name} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} />}
          </Field>
          <label className={styles.check}>
            <input type="checkbox" checked={auth} onChange={(event) => setAuth(event.target.checked)} /> A key is needed
          </label>
          {deploy.error && (
            <p className={styles.problem}>
              <Words text={toApiError(deploy.error).message} />
            </p>
          )}
          <p className={styles.about}>
            With a scoring script of your own: <code>rookery deploy {one} --script score.py</code>
          </p>
        </form>
      )}
    </Dialog>
  );
}
