/** What the designer asks of the keeper, and in which shape it comes (docs/inside/pipeline.md). */
import { useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { copyName } from "./graph/copies";
import { toCatalog, type Card, type Catalog, type Graph } from "./graph/model";
import type { Problem } from "./graph/problems";
import type { Steps } from "./graph/steps";

/** In the list: without its graph. */
export interface DraftInBrief extends Omit<Draft, "graph"> {
  num_nodes: number;
}

export interface Draft {
  id: string;
  name: string;
  graph: Graph;
  revision: number;
  created: string;
  changed: string;
  last_run_id: string | null;
  who: string | null;
}

export interface Sample {
  name: string;
  title: string;
  description: string;
  graph: Graph;
}

export interface PipelineRun {
  graph: Graph;
  parameters: Record<string, unknown> | null;
  status: string;
  steps: Steps;
}

/** A graph as a body: to the keeper's types it is any object. */
type Plain = Record<string, unknown>;
const plain = (graph: Graph) => graph as unknown as Plain;

export const draftKeys = {
  all: ["drafts"] as QueryKey,
  /** Not touched by events: the page that has it open is ahead of the keeper. */
  one: (id: string) => ["draft", id] as QueryKey,
};

export interface Modules {
  modules: Card[];
  /** Of versions that a node has to name to get them. */
  others: Card[];
}

export async function listModules(signal?: AbortSignal): Promise<Modules> {
  return (await call("list_modules", { query: { versions: true }, signal })) as unknown as Modules;
}

/** All cards. They change only when somebody adds a module. */
export function useCatalog() {
  const asked = useQuery({ queryKey: ["modules"], queryFn: ({ signal }) => listModules(signal), staleTime: 60_000 });
  const catalog: Catalog = useMemo(() => toCatalog(asked.data?.modules ?? [], asked.data?.others), [asked.data]);
  return { asked, cards: asked.data?.modules ?? NO_CARDS, catalog };
}
const NO_CARDS: Card[] = [];

export async function listDrafts(signal?: AbortSignal): Promise<DraftInBrief[]> {
  return ((await call("list_drafts", { signal })) as unknown as { drafts: DraftInBrief[] }).drafts;
}

export async function getDraft(id: string, signal?: AbortSignal): Promise<Draft> {
  return (await call("get_draft", { path: { draft_id: id }, signal })) as unknown as Draft;
}

export async function createDraft(graph: Graph): Promise<Draft> {
  return (await call("create_draft", { body: { graph: plain(graph), name: graph.name } })) as unknown as Draft;
}

/** Beside the one it is of, under a name that no other draft has. */
export async function duplicate(graph: Graph): Promise<Draft> {
  const names = (await listDrafts()).map((draft) => draft.name);
  return createDraft({ ...graph, name: copyName(graph.name, names) });
}

export async function saveDraft(id: string, graph: Graph, revision: number): Promise<Draft> {
  return (await call("save_draft", { path: { draft_id: id }, body: { graph: plain(graph), name: graph.name, revision } })) as unknown as Draft;
}

export async function deleteDraft(id: string): Promise<void> {
  await call("delete_draft", { path: { draft_id: id } });
}

export async function listSamples(signal?: AbortSignal): Promise<Sample[]> {
  return ((await call("list_samples", { signal })) as unknown as { samples: Sample[] }).samples;
}

export async function validate(graph: Graph, signal?: AbortSignal): Promise<Problem[]> {
  return ((await call("validate_pipeline", { body: { graph: plain(graph) }, signal })) as unknown as { problems: Problem[] }).problems;
}

export interface Submission {
  experiment: string;
  display_name?: string;
  description?: string;
  tags?: Record<string, string>;
  parameters?: Record<string, unknown>;
  regenerate?: boolean;
  continue_on_failure?: boolean;
  draft_id?: string;
}

export async function submitPipeline(graph: Graph, submission: Submission): Promise<{ id: string }> {
  return (await call("submit_pipeline", { body: { graph: plain(graph), ...submission } })) as unknown as { id: string };
}

export async function getPipelineRun(id: string, signal?: AbortSignal): Promise<PipelineRun> {
  return (await call("get_pipeline_run", { path: { run_id: id }, signal })) as unknown as PipelineRun;
}

export async function retryStep(run: string, node: string): Promise<void> {
  await call("retry_step", { path: { run_id: run, node } });
}

export async function cloneRun(run: string): Promise<Draft> {
  return (await call("clone_pipeline_run", { path: { run_id: run } })) as unknown as Draft;
}

export async function pythonOf(graph: Graph): Promise<string> {
  return ((await call("pipeline_code", { body: { graph: plain(graph) } })) as unknown as { python: string }).python;
}

export async function yamlOf(graph: Graph): Promise<string> {
  return ((await call("pipeline_to_yaml", { body: { graph: plain(graph) } })) as unknown as { yaml: string }).yaml;
}

export async function graphOf(yaml: string): Promise<{ graph: Graph; problems: Problem[] }> {
  return (await call("pipeline_from_yaml", { body: { yaml } })) as unknown as { graph: Graph; problems: Problem[] };
}

export async function inferenceGraph(run: string, kind: "real-time" | "batch"): Promise<Graph> {
  return ((await call("inference_graph", { body: { run_id: run, kind } })) as unknown as { graph: Graph }).graph;
}

/** An endpoint of a real-time inference pipeline: given, or made from a training run. Its name. */
export async function deployInference(what: { graph: Graph } | { run: string }, asked: { name: string; auth_enabled: boolean; overwrite: boolean }): Promise<string> {
  const from = "run" in what ? { run_id: what.run } : { graph: plain(what.graph) };
  return (await call("deploy_inference", { body: { ...from, ...asked } })).name;
}

export interface PublishedPipeline {
  id: string;
  name: string;
  description: string;
  version: string;
  status: string;
  /** Where it is started. */
  endpoint: string;
  created_utc: string;
  created_by: string;
  graph?: Graph;
}

export interface PipelineEndpoint {
  id: string;
  name: string;
  description: string;
  status: string;
  endpoint: string;
  default_version: string;
  versions: { version: string; pipeline_id: string }[];
}

export async function listPublished(signal?: AbortSignal): Promise<PublishedPipeline[]> {
  return ((await call("list_published", { query: { active_only: false }, signal })) as unknown as { pipelines: PublishedPipeline[] }).pipelines;
}

export async function listPipelineEndpoints(signal?: AbortSignal): Promise<PipelineEndpoint[]> {
  return ((await call("list_pipeline_endpoints", { query: { active_only: false }, signal })) as unknown as { endpoints: PipelineEndpoint[] }).endpoints;
}

/** Published for good; with `endpoint` also as a version of it: of one that is there, or of a new one. */
export async function publish(graph: Graph, name: string, description: string, endpoint: { id: string } | { name: string } | null): Promise<PublishedPipeline> {
  const made = (await call("publish_pipeline", { body: { name, description, graph: plain(graph) } })) as unknown as PublishedPipeline;
  if (endpoint && "id" in endpoint) await call("change_pipeline_endpoint", { path: { endpoint: endpoint.id }, body: { add: made.id, make_default: true } });
  else if (endpoint) await call("create_pipeline_endpoint", { body: { name: endpoint.name, pipeline_id: made.id, description } });
  return made;
}

export async function setPublishedStatus(id: string, status: "Active" | "Disabled"): Promise<void> {
  await call("change_published", { path: { pipeline_id: id }, body: { status } });
}
