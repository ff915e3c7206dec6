import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Model } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Card, Facts } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field, Input, Select } from "@/components/Field";
import { formatBytes, formatTime, plural } from "@/components/format";
import { Menu } from "@/components/Menu";
import { Skeleton } from "@/components/Skeleton";
import { Pill } from "@/components/StatusPill";
import { Tags } from "@/components/Tags";
import { toast, toastError } from "@/components/toasts";
import { Icon } from "@/components/Icon";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import { EditModelDialog } from "./EditModelDialog";
import { lineageSteps, modelBytes, onnxCheck, STAGES, type Stage } from "./models";
import styles from "./Models.module.css";

/** What is known of a version, and what can be changed of it. */
export function VersionCard({ model }: { model: Model }) {
  const client = useQueryClient();
  const mayChange = useMay("contributor");
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const path = { name: model.name, version: model.version };
  const again = () => void client.invalidateQueries({ queryKey: keys.models() });
  const setStage = useMutation({ mutationFn: (stage: Stage) => call("change_model", { path, body: { stage } }), onError: toastError, onSuccess: again });
  const remove = useMutation({
    mutationFn: () => call("delete_model", { path }),
    onError: toastError,
    onSuccess: () => {
      // Not all of it: where it came from would be asked of a version that is gone.
      void client.invalidateQueries({ queryKey: keys.models("names") });
      void client.invalidateQueries({ queryKey: keys.models("versions", model.name) });
      toast(`Version ${model.version} is deleted`);
      navigate(`/models/${encodeURIComponent(model.name)}`);
    },
    onSettled: () => setOpen(null),
  });
  const check = onnxCheck(model.properties);
  const properties = Object.entries(model.properties).filter(([name]) => !name.startsWith("onnx_check."));
  return (
    <>
      <Card
        title={`Version ${model.version}`}
        testId="model-version"
        actions={
          mayChange ? (
            <Menu
              label="More to do with this version"
              isIconOnly
              items={[
                { label: "Deploy the latest version", icon: "endpoint", run: () => navigate(`/endpoints?deploy=${encodeURIComponent(model.name)}`) },
                { label: "Description and tags", icon: "tag", run: () => setOpen("edit") },
                { label: "Delete this version", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
              ]}
            />
          ) : undefined
        }
      >
        {model.description && <p className={styles.text}>{model.description}</p>}
        <Facts
          facts={[
            ["Registered", `${formatTime(model.created_utc)} by ${model.created_by}`],
            ["Framework", model.framework ? `${model.framework} ${model.framework_version ?? ""}` : "not said"],
            ["Files", `${plural(model.files.length, "file")}, ${formatBytes(modelBytes(model))}`],
            [
              "Stage",
              mayChange ? (
                <Select aria-label="Stage" className={styles.stage} value={model.stage ?? "None"} disabled={setStage.isPending} onChange={(event) => setStage.mutate(event.target.value as Stage)} data-testid="model-stage">
                  {STAGES.map((stage) => (
                    <option key={stage} value={stage}>
                      {stage}
                    </option>
                  ))}
                </Select>
              ) : (
                (model.stage ?? "None")
              ),
            ],
            ["Aliases", <AliasEditor key="aliases" model={model} mayChange={mayChange} />],
            ...(Object.keys(model.tags).length > 0 ? [["Tags", <Tags key="tags" tags={model.tags} />] as const] : []),
            ...properties.map(([name, value]) => [name, value ?? "–"] as const),
          ]}
        />
      </Card>
      <LineageCard model={model} />
      {check && (
        <Card title="ONNX check" testId="model-onnx-check" actions={check.agrees === null ? undefined : <Pill word={check.agrees ? "agrees with the original" : "differs"} tone={check.agrees ? "good" : "bad"} icon={check.agrees ? "completed" : "failed"} />}>
          <Facts facts={check.facts} />
        </Card>
      )}
      {open === "edit" && <EditModelDialog model={model} onClose={() => setOpen(null)} />}
      {open === "delete" && (
        <Confirm title={`Delete version ${model.version} of ${model.name}?`} verb="Delete the version" isDangerous isBusy={remove.isPending} onConfirm={() => remove.mutate()} onClose={() => setOpen(null)}>
          <p>This cannot be taken back: its aliases go too, and its number is not used again. The run it came from keeps its files.</p>
        </Confirm>
      )}
    </>
  );
}

function AliasEditor({ model, mayChange }: { model: Model; mayChange: boolean }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const set = useMutation({
    mutationFn: ({ alias, version }: { alias: string; version: number | null }) => call("set_model_alias", { path: { name: model.name, alias }, body: { version } }),
    onError: toastError,
    onSuccess: () => {
      setTyped("");
      void client.invalidateQueries({ queryKey: keys.models() });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim()) set.mutate({ alias: typed.trim(), version: model.version });
  };
  return (
    <div className={styles.aliases} data-testid="model-aliases">
      {model.aliases.map((alias) => (
        <span key={alias} className={styles.alias}>
          @{alias}
          {mayChange && <IconButton icon="close" label={`Take the alias ${alias} away`} onClick={() => set.mutate({ alias, version: null })} />}
        </span>
      ))}
      {model.aliases.length === 0 && !mayChange && "none"}
      {mayChange && (
        <form className={styles.actions} onSubmit={submit}>
          <Field label="New alias" isLabelHidden>
            {(ids) => <Input {...ids} placeholder="new alias" value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} />}
          </Field>
          <Button type="submit" isBusy={set.isPending} disabled={!typed.trim()}>
            Add
          </Button>
        </form>
      )}
    </div>
  );
}

function LineageCard({ model }: { model: Model }) {
  const asked = useQuery({ queryKey: keys.models("lineage", model.name, model.version), queryFn: ({ signal }) => call("get_lineage", { path: { name: model.name, version: model.version }, signal }) });
  return (
    <Card title="Where it came from" testId="model-lineage">
      {asked.isPending && <Skeleton lines={2} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && (
        <ol className={styles.steps}>
          {lineageSteps(asked.data).map((step, index) => (
            <li key={index}>
              <div className={styles.step}>
                <span className={styles.kind}>
                  <Icon name={step.icon} size={12} />
                  {step.kind}
                </span>
                {step.to ? <Link to={step.to}>{step.title}</Link> : <strong>{step.title}</strong>}
                <span className={styles.about}>{step.about}</span>
              </div>
            </li>
          ))}
        </ol>
      )}
      {asked.data && !asked.data.run && <p className={styles.about}>It was uploaded, not taken from a run.</p>}
    </Card>
  );
}
