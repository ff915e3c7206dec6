import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Field, Input } from "@/components/Field";
import { Words } from "@/components/Words";
import { freeName } from "@/pages/endpoints/endpoints";
import { navigate } from "@/router/location";
import { deployInference } from "./asks";
import styles from "./Designer.module.css";
import type { Graph } from "./graph/model";
import { modelName } from "./graph/outputs";

/** A pipeline that only scores, behind an address: every request goes through its modules. `run`: made from that training run. */
export function DeployDialog({ graph, run, onClose }: { graph: Graph; run?: string; onClose: () => void }) {
  const client = useQueryClient();
  const endpoints = useQuery({ queryKey: keys.endpoints("list"), queryFn: ({ signal }) => call("list_endpoints", { signal }) });
  const [typed, setTyped] = useState<string | null>(null);
  const [auth, setAuth] = useState(false);
  const [replaces, setReplaces] = useState(false);
  const taken = (endpoints.data?.endpoints ?? []).map((each) => each.name);
  const name = (typed ?? freeName(modelName(graph.name), taken)).trim();
  const isTaken = taken.includes(name);
  const isReady = name !== "" && !endpoints.isPending && (!isTaken || replaces);
  const deploy = useMutation({
    mutationFn: () => deployInference(run === undefined ? { graph } : { run }, { name, auth_enabled: auth, overwrite: isTaken && replaces }),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: keys.endpoints() });
      onClose();
      navigate(`/endpoints/${encodeURIComponent(made)}`);
    },
  });
  return (
    <Dialog
      title="Deploy the pipeline"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" icon="endpoint" type="submit" form="deploy-pipeline" isBusy={deploy.isPending} disabled={!isReady} data-testid="designer-deploy-pipeline">
            Deploy
          </Button>
        </>
      }
    >
      <form
        id="deploy-pipeline"
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (isReady) deploy.mutate();
        }}
      >
        <p className={styles.about}>Rows or pictures that are sent to the endpoint go through the modules of the pipeline, with the model and the transformations that the training has kept.</p>
        <Field label="Name of the endpoint" problem={isTaken && !replaces ? "There is one of that name." : undefined}>
          {(ids) => <Input {...ids} value={typed ?? name} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} />}
        </Field>
        {isTaken && (
          <label>
            <input type="checkbox" checked={replaces} onChange={(event) => setReplaces(event.target.checked)} /> Replace what it serves
          </label>
        )}
        <label>
          <input type="checkbox" checked={auth} onChange={(event) => setAuth(event.target.checked)} /> A key is needed
        </label>
        {deploy.error && (
          <p role="alert" className={styles.refused}>
            <Words text={toApiError(deploy.error).message} />
          </p>
        )}
      </form>
    </Dialog>
  );
}
