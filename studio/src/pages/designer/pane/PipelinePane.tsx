import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Button, IconButton } from "@/components/Button";
import { Field, Input, Select } from "@/components/Field";
import styles from "../Designer.module.css";
import * as edit from "../graph/edit";
import type { Graph, ParameterType, PipelineParameter } from "../graph/model";
import { checkTyped, freeName } from "../graph/parameters";

interface Props {
  graph: Graph;
  apply: ((make: (graph: Graph) => Graph, about?: string) => void) | null;
}

const TYPES: ParameterType[] = ["string", "integer", "number", "boolean", "data"];

/** What belongs to the whole pipeline: name, compute, its parameters. */
export function PipelinePane({ graph, apply }: Props) {
  const targets = useQuery({ queryKey: keys.compute("list"), queryFn: ({ signal }) => call("list_compute", { signal }) });
  const set = (patch: Partial<Graph>, about: string) => apply?.((now) => ({ ...now, ...patch }), `pipeline:${about}`);
  const parameters = Object.entries(graph.parameters ?? {});
  return (
    <div className={styles.form} data-testid="designer-settings">
      <Field label="Name">{(ids) => <Input {...ids} value={graph.name} disabled={!apply} onChange={(event) => set({ name: event.target.value }, "name")} />}</Field>
      <Field label="Description">
        {(ids) => <textarea {...ids} className={styles.textarea} value={graph.description ?? ""} disabled={!apply} onChange={(event) => set({ description: event.target.value }, "description")} />}
      </Field>
      <Field label="Default compute target" hint="Modules that name none of their own run there">
        {(ids) => (
          <Select {...ids} value={graph.default_compute ?? ""} disabled={!apply} onChange={(event) => set({ default_compute: event.target.value || null }, "compute")}>
            <option value="">local</option>
            {(targets.data?.compute ?? [])
              .filter((each) => each.name !== "local")
              .map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
          </Select>
        )}
      </Field>
      <h3 className={styles.section}>Pipeline parameters</h3>
      {parameters.length === 0 && <p className={styles.about}>Values that are asked for at each submission. Make one of a module&apos;s parameter with the menu beside it, or here.</p>}
      {parameters.map(([name, parameter]) => (
        <Parameter key={name} name={name} parameter={parameter} apply={apply} />
      ))}
      {apply && (
        <span>
          <Button icon="plus" onClick={() => apply((now) => edit.setPipelineParameter(now, freeName("parameter", Object.keys(now.parameters ?? {})), { type: "string", default: "" }))}>
            Add a parameter
          </Button>
        </span>
      )}
    </div>
  );
}

function Parameter({ name, parameter, apply }: { name: string; parameter: PipelineParameter; apply: Props["apply"] }) {
  const [typed, setTyped] = useState(() => textOf(parameter.default));
  const checked = checkTyped(name, parameter.type, typed);
  const set = (next: PipelineParameter) => apply?.((now) => edit.setPipelineParameter(now, name, next), `parameter:${name}`);
  return (
    <div className={styles.row} data-testid="designer-pipeline-parameter">
      <Field label={name} problem={checked.problem ?? undefined}>
        {(ids) => (
          <span className={styles.pair}>
            <Input
              {...ids}
              value={typed}
              disabled={!apply}
              onChange={(event) => {
                setTyped(event.target.value);
                set({ ...parameter, default: checkTyped(name, parameter.type, event.target.value).value });
              }}
            />
            <Select aria-label={`Type of ${name}`} value={parameter.type} disabled={!apply} onChange={(event) => set({ ...parameter, type: event.target.value as ParameterType, default: checkTyped(name, event.target.value as ParameterType, typed).value })}>
              {TYPES.map((type) => (
                <option key={type}>{type}</option>
              ))}
            </Select>
          </span>
        )}
      </Field>
      {apply && <IconButton className={styles.rowTool} icon="trash" label={`Remove the parameter ${name}`} onClick={() => apply((now) => edit.removePipelineParameter(now, name))} />}
    </div>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
