import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call } from "@/api/client";
import { toApiError } from "@/api/errors";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Checkbox, Field, Input } from "@/components/Field";
import { Words } from "@/components/Words";
import { submitPipeline } from "./asks";
import styles from "./Designer.module.css";
import type { Graph } from "./graph/model";
import { checkTyped } from "./graph/parameters";
import type { Problem } from "./graph/problems";
import { ProblemList } from "./ProblemList";

interface Props {
  graph: Graph;
  draft: string | null;
  /** Before it is sent: the draft is saved. */
  onBefore?: () => Promise<void>;
  onDone: (run: string) => void;
  onGo: (node: string) => void;
  onClose: () => void;
}

const LAST = "rookery.designer.submit";

/** Where to, under which name, with which values: then it runs. What was given last is offered again. */
export function SubmitDialog({ graph, draft, onBefore, onDone, onGo, onClose }: Props) {
  const experiments = useQuery({ queryKey: keys.experiments, queryFn: ({ signal }) => call("list_experiments", { signal }) });
  const [experiment, setExperiment] = useState(() => lastExperiment() ?? experimentName(graph.name));
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [tags, setTags] = useState("");
  const [isFresh, setFresh] = useState(false);
  const [goesOn, setGoesOn] = useState(false);
  const parameters = Object.entries(graph.parameters ?? {});
  const [typed, setTyped] = useState<Record<string, string>>(() => Object.fromEntries(parameters.map(([key, each]) => [key, textOf(each.default)])));
  const checked = parameters.map(([key, each]) => [key, checkTyped(key, each.type, typed[key] ?? "")] as const);
  const tagProblem = tagsOf(tags) === null ? "Write tags as name=value, separated by commas." : undefined;
  const submit = useMutation({
    mutationFn: async () => {
      await onBefore?.();
      return submitPipeline(graph, {
        experiment: experiment.trim(),
        display_name: name.trim() || undefined,
        description: description.trim() || undefined,
        tags: tagsOf(tags) ?? {},
        parameters: Object.fromEntries(checked.map(([key, each]) => [key, each.value])),
        regenerate: isFresh || undefined,
        continue_on_failure: goesOn || undefined,
        draft_id: draft ?? undefined,
      });
    },
    onSuccess: (run) => {
      remember(experiment.trim());
      onDone(run.id);
    },
  });
  const error = submit.error ? toApiError(submit.error) : null;
  const problems = (error?.details.problems ?? []) as Problem[];
  const isReady = experiment.trim() !== "" && !tagProblem && checked.every(([, each]) => each.problem === null);
  return (
    <Dialog
      title="Submit the pipeline"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not yet</Button>
          <Button variant="primary" icon="play" type="submit" form="submit-pipeline" isBusy={submit.isPending} disabled={!isReady} data-testid="designer-submit-now">
            Submit
          </Button>
        </>
      }
    >
      <form
        id="submit-pipeline"
        className={styles.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (isReady && !submit.isPending) submit.mutate();
        }}
      >
        {error && (
          <div role="alert" data-testid="error">
            <p>
              <Words text={error.message} />
            </p>
            {problems.length > 0 && <ProblemList problems={problems} onGo={onGo} />}
          </div>
        )}
        <Field label="Experiment" hint="One that is there, or a new name">
          {(ids) => (
            <>
              <Input {...ids} value={experiment} list="designer-experiments" required autoComplete="off" onChange={(event) => setExperiment(event.target.value)} />
              <datalist id="designer-experiments">
                {(experiments.data?.experiments ?? []).map((each) => (
                  <option key={each.name} value={each.name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field label="Name of the run" hint="Empty: the pipeline's name">
          {(ids) => <Input {...ids} value={name} onChange={(event) => setName(event.target.value)} placeholder={graph.name} />}
        </Field>
        {parameters.length > 0 && <h3 className={styles.section}>Pipeline parameters</h3>}
        {parameters.map(([key, each], index) => (
          <Field key={key} label={key} problem={checked[index]?.[1].problem ?? undefined} hint={each.type}>
            {(ids) => <Input {...ids} value={typed[key] ?? ""} onChange={(event) => setTyped({ ...typed, [key]: event.target.value })} />}
          </Field>
        ))}
        <details>
          <summary>More</summary>
          <div className={styles.form}>
            <Field label="Description">{(ids) => <Input {...ids} value={description} onChange={(event) => setDescription(event.target.value)} />}</Field>
            <Field label="Tags" problem={tagProblem} hint="camera=east, season=autumn">
              {(ids) => <Input {...ids} value={tags} onChange={(event) => setTags(event.target.value)} />}
            </Field>
            <Checkbox label="Run every module anew, reuse nothing" checked={isFresh} onChange={(event) => setFresh(event.target.checked)} />
            <Checkbox label="When a module fails, let those go on that do not need it" checked={goesOn} onChange={(event) => setGoesOn(event.target.checked)} />
          </div>
        </details>
      </form>
    </Dialog>
  );
}

/** "a=1, b=2"; null where it is not so. */
export function tagsOf(text: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const part of text.split(",").map((each) => each.trim()).filter(Boolean)) {
    const at = part.indexOf("=");
    if (at < 1) return null;
    found[part.slice(0, at).trim()] = part.slice(at + 1).trim();
  }
  return found;
}

function experimentName(name: string): string {
  return name.trim().replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "").toLowerCase() || "pipelines";
}

function lastExperiment(): string | null {
  try {
    return localStorage.getItem(LAST);
  } catch {
    return null;
  }
}

function remember(experiment: string): void {
  try {
    localStorage.setItem(LAST, experiment);
  } catch {
    // Storage is refused: it is typed again next time.
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
