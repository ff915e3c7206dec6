import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Menu } from "@/components/Menu";
import { Skeleton } from "@/components/Skeleton";
import { isOver, StatusPill } from "@/components/StatusPill";
import { Elapsed } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Words } from "@/components/Words";
import { shortCause } from "@/pages/run/cause";
import { RunPicker } from "@/pages/run/RunPicker";
import type { Run } from "@/pages/run/tabs";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import { cloneRun, createDraft, inferenceGraph, useCatalog, type PipelineRun } from "./asks";
import { Canvas } from "./canvas/Canvas";
import { CanvasTools, KeepInSight } from "./canvas/CanvasTools";
import type { Shown } from "./canvas/toFlow";
import styles from "./Designer.module.css";
import { DeployDialog } from "./DeployDialog";
import { CodeDialog } from "./dialogs";
import { FindOnCanvas } from "./FindOnCanvas";
import { titleOf } from "./graph/model";
import { canServe, modelName, trainingRun } from "./graph/outputs";
import { findNodes } from "./graph/search";
import { settle } from "./graph/settle";
import { countSteps, countWords, firstFailing } from "./graph/steps";
import { RegisterModel } from "./pane/RegisterModel";
import { StepPane } from "./pane/StepPane";
import { PublishDialog } from "./PublishDialog";
import { useStepProgress } from "./useStepProgress";

const NO_PROBLEMS = new Map();

/** The graph of a run, which cannot be changed any more: how each module is, and what it left. */
export function RunView({ run, ran }: { run: Run; ran: PipelineRun }) {
  const [search, change] = useSearch();
  const client = useQueryClient();
  const isNarrow = useIsNarrow();
  const mayEdit = useMay("contributor");
  const { asked, catalog } = useCatalog();
  const [wanted, setWanted] = useState("");
  const [open, setOpen] = useState<"code" | "publish" | "compare" | "deploy" | "serve" | null>(null);
  const [jump, setJump] = useState(0);
  const graph = useMemo(() => settle(ran.graph, catalog), [ran.graph, catalog]);
  const node = search.get("node");
  const selected = useMemo(() => new Set(node && graph.nodes[node] ? [node] : []), [node, graph]);
  const found = useMemo(() => findNodes(graph, catalog, wanted, (id) => ran.steps[id]?.status ?? null), [graph, catalog, wanted, ran.steps]);
  const progress = useStepProgress(ran, catalog);
  const shown: Shown = useMemo(() => ({ graph, catalog, problems: NO_PROBLEMS, steps: ran.steps, progress, found: new Set(found), refused: null, isReadOnly: true }), [graph, catalog, ran.steps, progress, found]);
  const trained = trainingRun(graph, ran.steps, catalog);
  const counts = countSteps(ran.steps);
  const failing = firstFailing(ran.steps);
  const isLive = !isOver(run.status);

  // What belongs to one module's tab (a log, a zoom) means nothing to another.
  const latest = useRef(search);
  latest.current = search;
  const choose = useCallback(
    (ids: ReadonlySet<string>) => {
      const [only] = [...ids].slice(-1);
      if ((only ?? null) === latest.current.get("node")) return;
      const cleared = Object.fromEntries([...latest.current.keys()].map((key) => [key, null]));
      change({ ...cleared, node: only ?? null, tab: latest.current.get("tab") });
    },
    [change],
  );
  const go = useCallback(
    (id: string) => {
      choose(new Set([id]));
      setJump((count) => count + 1);
    },
    [choose],
  );
  const refresh = () => void client.invalidateQueries({ queryKey: keys.run(run.id) });
  const cancel = useMutation({ mutationFn: () => call("cancel_run", { path: { run_id: run.id } }), onError: toastError, onSuccess: refresh });
  const toDraft = (id: string) => navigate(`/designer/drafts/${encodeURIComponent(id)}`);
  const clone = useMutation({ mutationFn: () => cloneRun(run.id), onError: toastError, onSuccess: (draft) => toDraft(draft.id) });
  const infer = useMutation({
    mutationFn: async (kind: "real-time" | "batch") => {
      const made = await inferenceGraph(run.id, kind);
      return createDraft(settle(made, catalog));
    },
    onError: toastError,
    onSuccess: (draft) => {
      toast("Made an inference pipeline; look it through, then submit or deploy it");
      toDraft(draft.id);
    },
  });
  return (
    <div className={styles.page} data-testid="designer-run" data-status={run.status}>
      <div className={styles.toolbar} role="toolbar" aria-label="Pipeline run">
        <h1 className="unseen">{run.display_name || run.id}</h1>
        <div className={styles.summary}>
          <strong>{run.display_name || run.id}</strong>
          <StatusPill status={run.status} reason={run.reason} />
          <span data-testid="designer-counts">{countWords(counts)}</span>
          <span className="numbers">
            <Elapsed start={run.started_utc ?? run.created_utc} end={run.ended_utc} />
          </span>
        </div>
        <span className={styles.gap} />
        {!isNarrow && <FindOnCanvas found={found.length} onText={setWanted} onNext={() => found.length > 0 && go(found[(found.indexOf(node ?? "") + 1) % found.length] as string)} />}
        {mayEdit && isLive && (
          <Button icon="stop" variant="danger" isBusy={cancel.isPending} onClick={() => cancel.mutate()} data-testid="designer-cancel">
            Cancel
          </Button>
        )}
        <Menu
          label="More"
          isIconOnly
          items={[
            { label: "As an ordinary run", icon: "runs", run: () => navigate(`/runs/${encodeURIComponent(run.id)}`) },
            { label: "Compare with another run", icon: "compare", run: () => setOpen("compare") },
            { label: "As Python or YAML", icon: "code", run: () => setOpen("code") },
            ...(mayEdit
              ? [
                  { label: "Make a real-time inference pipeline", icon: "endpoint" as const, isDisabled: run.status !== "Completed", run: () => infer.mutate("real-time") },
                  { label: "Make a batch inference pipeline", icon: "endpoint" as const, isDisabled: run.status !== "Completed", run: () => infer.mutate("batch") },
                  { label: "Deploy as an endpoint", icon: "endpoint" as const, isDisabled: run.status !== "Completed" || !canServe(graph, true), run: () => setOpen("serve") },
                  { label: "Deploy the trained model", icon: "endpoint" as const, isDisabled: trained === null, run: () => setOpen("deploy") },
                  { label: "Publish", icon: "external" as const, run: () => setOpen("publish") },
                ]
              : []),
          ]}
        />
        {mayEdit && (
          <Button icon="copy" isBusy={clone.isPending} onClick={() => clone.mutate()} data-testid="designer-clone">
            Clone to a draft
          </Button>
        )}
      </div>
      {failing !== null && (
        <div className={`${styles.banner} ${styles.bad}`} role="alert" data-testid="designer-failing">
          <Icon name="failed" />
          <p>
            <strong>{titleOf(graph.nodes[failing] ?? { kind: failing }, catalog)}</strong> failed{counts.failed > 1 ? " first" : ""}: <Words text={shortCause(String(ran.steps[failing]?.cause?.summary ?? ran.steps[failing]?.reason ?? "its log says why"))} />
          </p>
          <Button onClick={() => go(failing)} data-testid="designer-go-failing">
            Go to it
          </Button>
        </div>
      )}
      {failing === null && run.status === "Failed" && (
        <div className={`${styles.banner} ${styles.bad}`} role="alert">
          <Icon name="failed" />
          <p>
            <Words text={shortCause(String(run.error?.summary ?? run.reason ?? "The pipeline failed."))} /> <Link to={`/runs/${encodeURIComponent(run.id)}`}>Its page</Link>
          </p>
        </div>
      )}
      <div className={styles.body}>
        {asked.isPending ? (
          <Skeleton lines={6} />
        ) : (
          <Canvas shown={shown} selected={selected} onSelect={choose} line={null} onLine={() => undefined} edits={null}>
            <CanvasTools />
            <KeepInSight id={node} jump={jump} />
          </Canvas>
        )}
        {node && graph.nodes[node] && <StepPane key={node} pipeline={run.id} graph={graph} id={node} step={ran.steps[node] ?? null} catalog={catalog} onClose={() => choose(new Set())} />}
      </div>
      {open === "code" && <CodeDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "publish" && <PublishDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "serve" && <DeployDialog graph={graph} run={run.id} onClose={() => setOpen(null)} />}
      {open === "deploy" && trained && <RegisterModel run={trained} suggested={modelName(graph.name)} onClose={() => setOpen(null)} />}
      {open === "compare" && (
        <RunPicker title="Compare with which run?" experiment={run.experiment} without={[run.id]} onPick={(other) => navigate(`/designer/compare?runs=${encodeURIComponent(run.id)},${encodeURIComponent(other.id)}`)} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}
