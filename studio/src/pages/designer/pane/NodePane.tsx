import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Button, IconButton } from "@/components/Button";
import { Checkbox, Field, Input, Select } from "@/components/Field";
import { Icon } from "@/components/Icon";
import { Words } from "@/components/Words";
import styles from "../Designer.module.css";
import * as edit from "../graph/edit";
import { boundTo, cardOf, namesVersion, titleOf, type Card, type Catalog, type Graph, type GraphNode } from "../graph/model";
import { counts, freeName, typeFor } from "../graph/parameters";
import { portsOf, possibleSources } from "../graph/ports";
import { isMissing, type Problem } from "../graph/problems";
import { ParameterField } from "./ParameterField";

interface Props {
  graph: Graph;
  id: string;
  node: GraphNode;
  catalog: Catalog;
  problems: readonly Problem[];
  /** Null where nothing may be changed. */
  apply: ((make: (graph: Graph) => Graph, about?: string) => void) | null;
}

/** All that can be set of one node. */
export function NodePane({ graph, id, node, catalog, problems, apply }: Props) {
  const card = cardOf(node, catalog);
  const patch = (change: Partial<GraphNode>, about: string) => apply?.((now) => edit.patchNode(now, id, change), `${id}:${about}`);
  const isAsset = node.kind === "data" || node.kind === "model";
  const others = problems.filter((problem) => !(card?.parameters ?? []).some((parameter) => parameter.name === problem.field));
  return (
    <>
      {card && <p className={styles.about}>{card.help}</p>}
      {card && namesVersion(node) && (
        <p className={styles.about} data-testid="designer-version">
          Version {String(node.version)}
          {catalog.get(card.name) === card ? ", the module's default now" : `; the module's default is ${String(catalog.get(card.name)?.version)}`}
        </p>
      )}
      {others.length > 0 && (
        <ul className={styles.mend} aria-label="To mend" data-testid="designer-node-problems">
          {others.map((problem, index) => (
            <li key={index} data-missing={isMissing(problem) || undefined}>
              <Icon name={isMissing(problem) ? "info" : "failed"} size={14} />
              <span>
                <Words text={problem.message} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {card && card.parameters.length > 0 && <h3 className={styles.section}>Parameters</h3>}
      {card && <Parameters graph={graph} id={id} node={node} card={card} apply={apply} />}
      {!card && node.kind === "module" && <Kept node={node} />}
      {isAsset && node.definition_id !== undefined && <p className={styles.about}>What a module has made in an earlier run, kept as it was then. It has no name of its own; register it from that run&apos;s outputs to give it one.</p>}
      {isAsset && node.definition_id === undefined && <Asset graph={graph} id={id} node={node} apply={apply} onChange={(change) => patch(change, "asset")} />}
      {(node.kind === "script" || node.kind === "tune") && <Kept node={node} />}
      <Connections graph={graph} id={id} catalog={catalog} apply={apply} />
      {node.kind === "module" && <RunSettings graph={graph} id={id} node={node} card={card} apply={apply} />}
      <h3 className={styles.section}>On the canvas</h3>
      <div className={styles.form}>
        <Field label="Title">{(ids) => <Input {...ids} value={node.title ?? ""} placeholder={titleOf({ ...node, title: null }, catalog)} disabled={!apply} onChange={(event) => patch({ title: event.target.value || null }, "title")} />}</Field>
        <Field label="Comment">
          {(ids) => <textarea {...ids} className={styles.textarea} value={node.comment ?? ""} disabled={!apply} onChange={(event) => patch({ comment: event.target.value }, "comment")} />}
        </Field>
      </div>
    </>
  );
}

function Parameters({ graph, id, node, card, apply }: Pick<Props, "graph" | "id" | "node" | "apply"> & { card: Card }) {
  const given = node.parameters ?? {};
  return (
    <div className={styles.form}>
      {card.parameters
        .filter((parameter) => counts(parameter, card.parameters, given))
        .map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={given[parameter.name]}
            isReadOnly={!apply}
            names={Object.keys(graph.parameters ?? {})}
            onChange={(value) => apply?.((now) => edit.setParameter(now, id, parameter.name, value), `${id}:${parameter.name}`)}
            onBind={(wanted) =>
              apply?.((now) => {
                const name = wanted ?? freeName(parameter.name, Object.keys(now.parameters ?? {}));
                const made = wanted ? now : edit.setPipelineParameter(now, name, { type: typeFor(parameter), default: given[parameter.name] ?? parameter.default });
                return edit.setParameter(made, id, parameter.name, { pipeline_parameter: name });
              })
            }
          />
        ))}
    </div>
  );
}

/** What goes in, chosen from a list: for the keyboard, and for small screens. */
function Connections({ graph, id, catalog, apply }: Pick<Props, "graph" | "id" | "catalog" | "apply">) {
  const { inputs } = portsOf(graph, id, catalog);
  const node = graph.nodes[id];
  if (inputs.length === 0 || !node) return null;
  return (
    <>
      <h3 className={styles.section}>Inputs</h3>
      <div className={styles.form}>
        {inputs.map((port) => {
          const source = node.inputs?.[port.name];
          const possible = possibleSources(graph, catalog, id, port.name);
          const value = source ? `${source.node}\n${source.port}` : "";
          return (
            <Field key={port.name} label={port.label} hint={port.help || undefined}>
              {(ids) => (
                <Select
                  {...ids}
                  value={value}
                  disabled={!apply}
                  data-input={port.name}
                  onChange={(event) => {
                    const [from, output] = event.target.value.split("\n");
                    apply?.((now) => (from && output ? edit.connect(now, { node: from, port: output }, { node: id, port: port.name }) : edit.disconnect(now, { node: id, port: port.name })));
                  }}
                >
                  <option value="">{port.optional ? "Nothing" : "Not connected"}</option>
                  {source && !possible.some((each) => each.node === source.node && each.port === source.port) && <option value={value}>{`${source.node} · ${source.port}`}</option>}
                  {possible.map((each) => (
                    <option key={`${each.node}\n${each.port}`} value={`${each.node}\n${each.port}`}>
                      {each.label}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          );
        })}
      </div>
    </>
  );
}

function RunSettings({ graph, id, node, card, apply }: Pick<Props, "graph" | "id" | "node" | "apply"> & { card: Card | undefined }) {
  const targets = useQuery({ queryKey: keys.compute("list"), queryFn: ({ signal }) => call("list_compute", { signal }) });
  const settings = node.run_settings ?? {};
  const set = (name: string, value: unknown) => apply?.((now) => edit.setRunSetting(now, id, name, value), `${id}:${name}`);
  const count = (name: string, label: string) => (
    <Field label={label}>
      {(ids) => <Input {...ids} type="number" min={1} step={1} value={String(settings[name] ?? 1)} disabled={!apply} onChange={(event) => set(name, event.target.value === "" ? null : Number(event.target.value))} />}
    </Field>
  );
  return (
    <>
      <h3 className={styles.section}>Run settings</h3>
      <div className={styles.form}>
        <Field label="Compute target" hint={settings.compute ? undefined : `The pipeline's: ${graph.default_compute ?? "local"}`}>
          {(ids) => (
            <Select {...ids} value={settings.compute ?? ""} disabled={!apply} onChange={(event) => set("compute", event.target.value || null)}>
              <option value="">As the pipeline says</option>
              {settings.compute && !(targets.data?.compute ?? []).some((each) => each.name === settings.compute) && <option value={settings.compute}>{settings.compute}</option>}
              {(targets.data?.compute ?? []).map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {card?.distributed && (
          <div className={styles.pair}>
            {count("node_count", "Node count")}
            {count("process_count_per_node", "Processes per node")}
          </div>
        )}
        <Checkbox label="Regenerate output: never reuse an earlier result" checked={node.regenerate === true} disabled={!apply} onChange={(event) => apply?.((now) => edit.patchNode(now, id, { regenerate: event.target.checked }))} />
        <Checkbox label="If it fails, let the others go on" checked={node.continue_on_failure === true} disabled={!apply} onChange={(event) => apply?.((now) => edit.patchNode(now, id, { continue_on_failure: event.target.checked }))} />
      </div>
    </>
  );
}

function Asset({ graph, id, node, apply, onChange }: Pick<Props, "graph" | "id" | "node" | "apply"> & { onChange: (change: Partial<GraphNode>) => void }) {
  const bound = boundTo(node.dataset);
  const bind = () =>
    apply?.((now) => {
      const name = freeName(id, Object.keys(now.parameters ?? {}));
      return edit.patchNode(edit.setPipelineParameter(now, name, { type: "data", default: node.dataset }), id, { dataset: { pipeline_parameter: name } });
    });
  const unbind = () => onChange({ dataset: bound === null ? node.dataset : graph.parameters?.[bound]?.default });
  return (
    <div className={styles.form}>
      <Field label={node.kind === "data" ? "Data set" : "Model"} hint={bound ? "It comes from the pipeline's parameter of this name, asked for at each submission." : undefined}>
        {(ids) => <Input {...ids} value={bound ?? String((node.kind === "data" ? node.dataset : node.model) ?? "")} disabled={!apply || bound !== null} onChange={(event) => onChange(node.kind === "data" ? { dataset: event.target.value } : { model: event.target.value })} />}
      </Field>
      {node.kind === "data" && apply && (
        <span>
          <Button icon="branch" onClick={bound === null ? bind : unbind} data-testid="designer-bind-data">
            {bound === null ? "Make it a pipeline parameter" : "Give it a name of its own"}
          </Button>
        </span>
      )}
      <Field label="Version" hint="Empty: the newest when the pipeline is submitted">
        {(ids) => <Input {...ids} value={String(node.version ?? "")} disabled={!apply} onChange={(event) => onChange({ version: /^\d+$/.test(event.target.value) ? Number(event.target.value) : event.target.value || null })} />}
      </Field>
    </div>
  );
}

/** What the studio cannot edit: shown as it is stored, and kept. */
function Kept({ node }: { node: GraphNode }) {
  const { title: _t, comment: _c, inputs: _i, ...rest } = node;
  return (
    <>
      <h3 className={styles.section}>As it is stored</h3>
      <pre tabIndex={0} aria-label="As it is stored">
        <code>{JSON.stringify(rest, null, 2)}</code>
      </pre>
    </>
  );
}

/** The head of a pane. */
export function PaneHead({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <div className={styles.paneHead}>
      <h2>{title}</h2>
      <IconButton icon="close" label="Close the pane" onClick={onClose} />
    </div>
  );
}
