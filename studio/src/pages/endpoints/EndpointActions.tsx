import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import type { Endpoint } from "@/api/types";
import { Button } from "@/components/Button";
import { Confirm, Dialog } from "@/components/Dialog";
import { Field, Input, Select } from "@/components/Field";
import { Menu } from "@/components/Menu";
import { toast, toastError } from "@/components/toasts";
import { navigate } from "@/router/location";
import { usePageCommands } from "@/shell/pageCommands";
import styles from "./Endpoints.module.css";

/** What a contributor may do with an endpoint: another model, reload, take down. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const client = useQueryClient();
  const [open, setOpen] = useState<"update" | "delete" | null>(null);
  const path = { name: endpoint.name };
  const reload = useMutation({
    mutationFn: () => call("reload_endpoint", { path }),
    onError: toastError,
    onSuccess: (now) => {
      client.setQueryData(keys.endpoints("one", endpoint.name), now);
      toast("Its processes are started anew; no request fails meanwhile");
    },
  });
  const remove = useMutation({
    mutationFn: () => call("delete_endpoint", { path }),
    onError: toastError,
    onSuccess: () => {
      navigate("/endpoints");
      client.removeQueries({ queryKey: keys.endpoints("one", endpoint.name) });
      void client.invalidateQueries({ queryKey: keys.endpoints("list") });
      toast(`${endpoint.name} is gone`);
    },
    onSettled: () => setOpen(null),
  });
  usePageCommands([
    { title: `Update ${endpoint.name}`, icon: "settings", words: "model replicas version", run: () => setOpen("update") },
    { title: `Reload ${endpoint.name}`, icon: "again", words: "restart", run: () => reload.mutate() },
  ]);
  return (
    <div className={styles.actions}>
      <Button icon="settings" onClick={() => setOpen("update")} data-testid="endpoint-update">
        Update
      </Button>
      <Menu
        label="More to do with this endpoint"
        isIconOnly
        items={[
          { label: "Reload", icon: "again", run: () => reload.mutate() },
          { label: "Take down", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
        ]}
      />
      {open === "update" && <UpdateDialog endpoint={endpoint} onClose={() => setOpen(null)} />}
      {open === "delete" && (
        <Confirm title={`Take ${endpoint.name} down?`} verb="Take it down" isDangerous isBusy={remove.isPending} onConfirm={() => remove.mutate()} onClose={() => setOpen(null)}>
          <p>Nothing answers at its address any more, and its keys and numbers are gone. Its models stay.</p>
        </Confirm>
      )}
    </div>
  );
}

/** Another version of its model, more processes, a key or none: drained, so nobody notices. */
function UpdateDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const client = useQueryClient();
  const main = endpoint.versions.find((version) => version.is_default) ?? endpoint.versions[0];
  const model = main?.models.length === 1 ? main.models[0] : undefined;
  const [version, setVersion] = useState(model ? String(model.version) : "");
  const [replicas, setReplicas] = useState(String(main?.config.num_replicas ?? 1));
  const [auth, setAuth] = useState(endpoint.auth_enabled);
  const known = useQuery({ queryKey: keys.models("versions", model?.name ?? ""), queryFn: ({ signal }) => call("list_models", { query: { name: model?.name }, signal }), enabled: model !== undefined });
  const count = Number(replicas);
  const problem = Number.isInteger(count) && count >= 1 && count <= 32 ? null : "A whole number from 1 to 32.";
  const save = useMutation({
    mutationFn: () =>
      call("change_endpoint", {
        path: { name: endpoint.name },
        body: {
          ...(model && version !== String(model.version) ? { models: [{ name: model.name, version: Number(version) }] } : {}),
          ...(count !== Number(main?.config.num_replicas ?? 1) ? { config: { num_replicas: count } } : {}),
          ...(auth !== endpoint.auth_enabled ? { auth_enabled: auth } : {}),
        },
      }),
    onSuccess: (now) => {
      client.setQueryData(keys.endpoints("one", endpoint.name), now);
      toast("Updating; no request fails meanwhile");
      onClose();
    },
  });
  const versions = known.data?.models.map((each) => each.version) ?? (model ? [model.version] : []);
  return (
    <Dialog
      title={`Update ${endpoint.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button variant="primary" isBusy={save.isPending} disabled={problem !== null} onClick={() => save.mutate()} data-testid="endpoint-update-save">
            Update
          </Button>
        </>
      }
    >
      <form className={styles.form} onSubmit={(event) => event.preventDefault()}>
        {model && (
          <Field label={`Version of ${model.name}`}>
            {(ids) => (
              <Select {...ids} value={version} onChange={(event) => setVersion(event.target.value)}>
                {versions.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label="Processes that answer" problem={problem ?? undefined} hint="Each holds the model in memory.">
          {(ids) => <Input {...ids} type="number" min={1} max={32} value={replicas} onChange={(event) => setReplicas(event.target.value)} />}
        </Field>
        <label className={styles.check}>
          <input type="checkbox" checked={auth} onChange={(event) => setAuth(event.target.checked)} /> A key is needed
        </label>
        {save.error && <p className={styles.problem}>{toApiError(save.error).message}</p>}
      </form>
    </Dialog>
  );
}
