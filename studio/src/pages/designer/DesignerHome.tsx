import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatDuration, plural } from "@/components/format";
import { Menu } from "@/components/Menu";
import { Skeleton } from "@/components/Skeleton";
import { StatusPill } from "@/components/StatusPill";
import { Table, type Column } from "@/components/Table";
import { Tabs } from "@/components/Tabs";
import { Ago } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { useIsNarrow } from "@/components/useIsNarrow";
import { Words } from "@/components/Words";
import { Link } from "@/router/Link";
import { navigate, useSearch } from "@/router/location";
import { createDraft, deleteDraft, draftKeys, duplicate, getDraft, listDrafts, listSamples, type DraftInBrief } from "./asks";
import styles from "./Designer.module.css";
import { YamlDialog } from "./dialogs";
import { emptyGraph, type Graph } from "./graph/model";
import { Published } from "./Published";
import { Thumbnail } from "./Thumbnail";

/** Drafts, runs of pipelines, samples to begin with, and what is published. */
export default function DesignerHome() {
  const [search, change] = useSearch();
  const mayEdit = useMay("contributor");
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: (graph: Graph) => createDraft(graph),
    onError: toastError,
    onSuccess: (draft) => {
      void client.invalidateQueries({ queryKey: draftKeys.all, exact: true });
      navigate(`/designer/drafts/${encodeURIComponent(draft.id)}`);
    },
  });
  const begin = () => make.mutate(emptyGraph(`Pipeline of ${new Date().toISOString().slice(0, 10)}`));
  const tab = search.get("tab") ?? "drafts";
  return (
    <>
      <header className={styles.head}>
        <h1>Designer</h1>
        {mayEdit && (
          <>
            <Button icon="file" onClick={() => change({ yaml: "yes" })}>
              Open YAML
            </Button>
            <Button variant="primary" icon="plus" isBusy={make.isPending} onClick={begin} data-testid="designer-new">
              New pipeline
            </Button>
          </>
        )}
      </header>
      <Tabs
        label="Of the designer"
        selected={tab}
        onSelect={(id) => change({ tab: id === "drafts" ? null : id }, { push: true })}
        tabs={[
          { id: "drafts", label: "Drafts", content: () => <Drafts mayEdit={mayEdit} onGallery={() => change({ tab: "gallery" })} /> },
          { id: "runs", label: "Runs", content: () => <PipelineRuns /> },
          { id: "gallery", label: "Samples", content: () => <Gallery mayEdit={mayEdit} isBusy={make.isPending} onUse={(graph) => make.mutate(graph)} /> },
          { id: "published", label: "Published", content: () => <Published /> },
        ]}
      />
      {search.has("yaml") && mayEdit && <YamlDialog onGraph={(graph) => make.mutateAsync(graph)} onClose={() => change({ yaml: null })} />}
    </>
  );
}

function Drafts({ mayEdit, onGallery }: { mayEdit: boolean; onGallery: () => void }) {
  const client = useQueryClient();
  const asked = useQuery({ queryKey: draftKeys.all, queryFn: ({ signal }) => listDrafts(signal) });
  const [leaving, setLeaving] = useState<DraftInBrief | null>(null);
  const remove = useMutation({
    mutationFn: (draft: DraftInBrief) => deleteDraft(draft.id),
    onError: toastError,
    onSuccess: (_, draft) => {
      toast(`${draft.name} is deleted`);
      void client.invalidateQueries({ queryKey: draftKeys.all, exact: true });
    },
    onSettled: () => setLeaving(null),
  });
  if (asked.isPending) return <Skeleton lines={5} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (asked.data.length === 0) {
    return (
      <Card>
        <EmptyState icon="designer" title="No draft yet">
          <p>A draft is a pipeline that you put together on a canvas. Begin with an empty one, or with a sample that runs at once.</p>
          <Button onClick={onGallery} data-testid="designer-to-samples">
            Look at the samples
          </Button>
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <ul className={styles.cards} data-testid="designer-drafts">
        {asked.data.map((draft) => (
          <li key={draft.id} data-row={draft.id}>
            <article className={styles.tile}>
              <DraftPicture draft={draft} />
              <div className={styles.row}>
                <h2>
                  <Link to={`/designer/drafts/${encodeURIComponent(draft.id)}`}>{draft.name || "Without a name"}</Link>
                </h2>
                {mayEdit && (
                  <Menu
                    label={`More for ${draft.name}`}
                    isIconOnly
                    items={[
                      { label: "Duplicate", icon: "copy", run: () => void duplicateOf(draft).then(() => client.invalidateQueries({ queryKey: draftKeys.all, exact: true }), toastError) },
                      { label: "Delete", icon: "trash", isDangerous: true, run: () => setLeaving(draft) },
                    ]}
                  />
                )}
              </div>
              <p>
                {plural(draft.num_nodes, "module")} · <Ago time={draft.changed} />
                {draft.who && ` · ${draft.who}`}
                {draft.last_run_id && (
                  <>
                    {" · "}
                    <Link to={`/designer/runs/${encodeURIComponent(draft.last_run_id)}`}>last run</Link>
                  </>
                )}
              </p>
            </article>
          </li>
        ))}
      </ul>
      {leaving && (
        <Confirm title={`Delete ${leaving.name}?`} verb="Delete the draft" isDangerous isBusy={remove.isPending} onConfirm={() => remove.mutate(leaving)} onClose={() => setLeaving(null)}>
          <p>Its runs stay, and a run can be made a draft again. The draft itself cannot be had back.</p>
        </Confirm>
      )}
    </>
  );
}

async function duplicateOf(draft: DraftInBrief): Promise<unknown> {
  const { graph } = await getDraft(draft.id);
  return duplicate({ ...graph, name: draft.name });
}

/** The list has no graphs: each picture asks for its own, once for each revision. */
function DraftPicture({ draft }: { draft: DraftInBrief }) {
  const asked = useQuery({ queryKey: ["draft-picture", draft.id, draft.revision], queryFn: ({ signal }) => getDraft(draft.id, signal), staleTime: Infinity });
  return <Thumbnail graph={asked.data?.graph ?? NOTHING} />;
}
const NOTHING = emptyGraph("");

function Gallery({ mayEdit, isBusy, onUse }: { mayEdit: boolean; isBusy: boolean; onUse: (graph: Graph) => void }) {
  const asked = useQuery({ queryKey: ["pipeline-samples"], queryFn: ({ signal }) => listSamples(signal), staleTime: Infinity });
  if (asked.isPending) return <Skeleton lines={5} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (asked.data.length === 0) return <EmptyState icon="designer" title="No samples here">This installation has none.</EmptyState>;
  return (
    <ul className={styles.cards} data-testid="designer-samples">
      {asked.data.map((sample) => (
        <li key={sample.name} data-row={sample.name}>
          <article className={styles.tile}>
            <Thumbnail graph={sample.graph} />
            <h2>{sample.title}</h2>
            <p>
              <Words text={sample.description} />
            </p>
            {mayEdit && (
              <span>
                <Button isBusy={isBusy} onClick={() => onUse(sample.graph)} data-testid="designer-use-sample">
                  Make a draft of it
                </Button>
              </span>
            )}
          </article>
        </li>
      ))}
    </ul>
  );
}

type RunRow = Awaited<ReturnType<typeof askRuns>>["runs"][number];
const askRuns = (signal?: AbortSignal) => call("search_runs", { body: { kinds: ["pipeline"], limit: 200, columns: { metrics: [], params: [], tags: [] } }, signal });
const COLUMNS: Column<RunRow>[] = [
  { id: "name", title: "Run", width: "minmax(12rem, 2fr)", cell: (run) => <Link to={`/designer/runs/${encodeURIComponent(run.id)}`}>{run.display_name || run.id}</Link>, isSticky: true },
  { id: "status", title: "Status", width: "8.5rem", cell: (run) => <StatusPill status={run.status} reason={run.reason} /> },
  { id: "experiment", title: "Experiment", width: "minmax(8rem, 1fr)", cell: (run) => run.experiment },
  { id: "created", title: "Submitted", width: "7rem", cell: (run) => <Ago time={run.created_utc} /> },
  { id: "duration", title: "Took", width: "6rem", cell: (run) => formatDuration(run.duration_s), isExtra: true },
  { id: "who", title: "By", width: "7rem", cell: (run) => run.submitted_by, isExtra: true },
];

const NARROW = COLUMNS.filter((column) => ["name", "status", "created"].includes(column.id)).map((column) => (column.id === "name" ? { ...column, width: "minmax(6rem, 1fr)" } : column));

function PipelineRuns() {
  const isNarrow = useIsNarrow();
  const asked = useQuery({ queryKey: keys.runs({ pipelines: true }), queryFn: ({ signal }) => askRuns(signal), placeholderData: (before) => before });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (asked.isPending) return <Skeleton lines={5} />;
  if (!asked.data) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (asked.data.runs.length === 0) {
    return (
      <Card>
        <EmptyState icon="runs" title="No pipeline has run yet">
          <p>
            Open a draft and press Submit. From a terminal: <code>rookery pipeline run FILE</code>.
          </p>
        </EmptyState>
      </Card>
    );
  }
  const two = [...chosen];
  return (
    <div className={styles.form} data-testid="designer-runs">
      <div className={styles.tools}>
        <Button icon="compare" disabled={two.length !== 2} onClick={() => navigate(`/designer/compare?runs=${two.map(encodeURIComponent).join(",")}`)} data-testid="designer-compare">
          Compare two
        </Button>
      </div>
      <Card isFlush>
        <Table label="Runs of pipelines" columns={isNarrow ? NARROW : COLUMNS} rows={asked.data.runs} rowKey={(run) => run.id} onOpen={(run) => navigate(`/designer/runs/${encodeURIComponent(run.id)}`)} selected={chosen} onSelect={setChosen} maxHeight="70vh" />
      </Card>
    </div>
  );
}
