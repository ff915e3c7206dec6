import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toApiError } from "@/api/errors";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Dialog } from "@/components/Dialog";
import { Field, Input, Select } from "@/components/Field";
import { Words } from "@/components/Words";
import { listPipelineEndpoints, publish } from "./asks";
import styles from "./Designer.module.css";
import type { Graph } from "./graph/model";

/** A pipeline under an address of its own, started by a POST; as a version of an endpoint its address stays when it changes. */
export function PublishDialog({ graph, onClose }: { graph: Graph; onClose: () => void }) {
  const client = useQueryClient();
  const endpoints = useQuery({ queryKey: ["published", "endpoints"], queryFn: ({ signal }) => listPipelineEndpoints(signal) });
  const [name, setName] = useState(graph.name);
  const [description, setDescription] = useState(graph.description ?? "");
  const [endpoint, setEndpoint] = useState("");
  const [fresh, setFresh] = useState("");
  const send = useMutation({
    mutationFn: () => publish(graph, name.trim(), description, endpoint === "" ? null : endpoint === "new" ? { name: fresh.trim() } : { id: endpoint }),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["published"] }),
  });
  const isReady = name.trim() !== "" && (endpoint !== "new" || fresh.trim() !== "");
  return (
    <Dialog
      title="Publish the pipeline"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          {!send.data && (
            <Button variant="primary" type="submit" form="publish-pipeline" isBusy={send.isPending} disabled={!isReady} data-testid="designer-publish-now">
              Publish
            </Button>
          )}
        </>
      }
    >
      {send.data ? (
        <div className={styles.form} data-testid="designer-published-at">
          <p>It is published. A POST to this address, with a token, starts it:</p>
          <div className={styles.row}>
            <code>{send.data.endpoint}</code>
            <CopyButton text={send.data.endpoint} label="Copy the address" />
          </div>
        </div>
      ) : (
        <form
          id="publish-pipeline"
          className={styles.form}
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            if (isReady) send.mutate();
          }}
        >
          {send.error && (
            <p role="alert" className={styles.refused}>
              <Words text={toApiError(send.error).message} />
            </p>
          )}
          <Field label="Name">{(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
          <Field label="Description">{(ids) => <Input {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
          <Field label="Endpoint" hint="The address of an endpoint stays; this becomes its default version">
            {(ids) => (
              <Select {...ids} value={endpoint} onChange={(event) => setEndpoint(event.target.value)}>
                <option value="">None: an address of its own</option>
                <option value="new">A new endpoint</option>
                {(endpoints.data ?? []).map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {endpoint === "new" && <Field label="Name of the endpoint">{(ids) => <Input {...ids} value={fresh} onChange={(event) => setFresh(event.target.value)} />}</Field>}
        </form>
      )}
    </Dialog>
  );
}
