import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Checkbox, Field, Input } from "@/components/Field";
import { toast } from "@/components/toasts";
import { navigate } from "@/router/location";
import styles from "./Compute.module.css";
import { sizeProblem } from "./targets";

/** A pool of nodes on the keeper's machine. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [size, setSize] = useState({ min: "0", max: "2", idle: "1800" });
  const [cpus, setCpus] = useState("");
  const [isLow, setLow] = useState(false);
  const problem = sizeProblem(size) ?? (cpus && !/^[1-9]\d*$/.test(cpus) ? "Cores of a node must be a whole number, or nothing for all." : null);
  const create = useMutation({
    mutationFn: () =>
      call("create_compute", {
        body: {
          name: name.trim(),
          spec: {
            engine: "embedded",
            min_nodes: Number(size.min),
            max_nodes: Number(size.max),
            idle_seconds_before_scaledown: Number(size.idle),
            vm_priority: isLow ? "lowpriority" : "dedicated",
            ...(cpus ? { cpus_per_node: Number(cpus) } : {}),
          },
        },
      }),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: keys.compute() });
      toast(`${made.name} is there`);
      navigate(`/compute/${encodeURIComponent(made.name)}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem && name.trim()) create.mutate();
  };
  return (
    <Dialog
      title="Create a compute target"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" type="submit" form="compute-create" isBusy={create.isPending} disabled={problem !== null || !name.trim()} data-testid="compute-create">
            Create
          </Button>
        </>
      }
    >
      <form id="compute-create" className={styles.form} onSubmit={submit}>
        <p className={styles.about}>Nodes of the keeper's own machine. A run on several of them is as it is on a cluster: one process group, one agent per node.</p>
        <Field label="Name" problem={create.error ? toApiError(create.error).message : undefined} hint="2 to 64 letters, digits and dashes, a letter first">
          {(ids) => <Input {...ids} autoFocus required value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" spellCheck={false} />}
        </Field>
        <SizeFields size={size} onChange={setSize} problem={problem} />
        <Field label="Cores of each node" hint="Nothing: all of the machine's, shared by the nodes in use">
          {(ids) => <Input {...ids} inputMode="numeric" value={cpus} onChange={(event) => setCpus(event.target.value.trim())} />}
        </Field>
        <Checkbox label="Low priority: nodes can be taken away; runs go back to the queue and resume" checked={isLow} onChange={(event) => setLow(event.target.checked)} />
      </form>
    </Dialog>
  );
}

interface SizeProps {
  size: { min: string; max: string; idle: string };
  onChange: (size: { min: string; max: string; idle: string }) => void;
  problem: string | null;
}

export function SizeFields({ size, onChange, problem }: SizeProps) {
  return (
    <>
      <div className={styles.pair}>
        <Field label="Nodes at least" hint="Kept when nothing runs">
          {(ids) => <Input {...ids} inputMode="numeric" value={size.min} onChange={(event) => onChange({ ...size, min: event.target.value })} />}
        </Field>
        <Field label="Nodes at most" hint="More runs wait">
          {(ids) => <Input {...ids} inputMode="numeric" value={size.max} onChange={(event) => onChange({ ...size, max: event.target.value })} />}
        </Field>
      </div>
      <Field label="Idle seconds before a node is given up" problem={problem ?? undefined}>
        {(ids) => <Input {...ids} inputMode="numeric" value={size.idle} onChange={(event) => onChange({ ...size, idle: event.target.value })} />}
      </Field>
    </>
  );
}
