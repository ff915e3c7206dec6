/** What of an output is shown first: the pictures of an image directory, the table of a data frame; which step has trained. Pure. */
import { cardOf, type Catalog, type Graph } from "./model";
import type { Steps } from "./steps";

/** The folder to begin with; the topmost is "". */
export function shownFolder(type: string): string {
  return type === "ImageDirectory" ? "image" : "";
}

const FIRST = [/\.parquet$/, /\.csv$/, /_transforms\.json$/, /model_spec\.ya?ml$/, /\.onnx$/, /\.json$/, /\.(txt|md|ya?ml)$/];

/** The file that says most of it. Pictures' own lists are not shown by themselves: the pictures are. */
export function firstFile(type: string, paths: readonly string[]): string | null {
  if (type === "ImageDirectory") return null;
  for (const pattern of FIRST) {
    const found = paths.find((path) => pattern.test(path) && !/(^|\/)_(meta|schema|samples)\./.test(path));
    if (found) return found;
  }
  return null;
}

/** The run that made the model of a pipeline: of its first module that trains. */
export function trainingRun(graph: Graph, steps: Steps, catalog: Catalog): string | null {
  for (const [id, step] of Object.entries(steps)) {
    const card = cardOf(graph.nodes[id], catalog);
    const isTraining = card?.category.includes("Training") && card.outputs.some((port) => port.types.includes("ModelDirectory"));
    if (isTraining && step.status === "Completed") return step.reused_from ?? step.run_id;
  }
  return null;
}

/** Whether requests can be put to it: made to score as they come, or, `true` for a run, with a module that scores. */
export function canServe(graph: Graph, isRun: boolean): boolean {
  const inference = graph.inference as { kind?: unknown } | null | undefined;
  if (inference?.kind) return inference.kind === "real-time";
  return isRun && Object.values(graph.nodes).some((node) => node.module?.startsWith("score"));
}

/** Of a pipeline's name, what a model's name allows. */
export function modelName(name: string): string {
  return name.replace(/\(.*?\)/g, "").trim().replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "model";
}
