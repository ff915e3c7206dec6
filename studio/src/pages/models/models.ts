/** Registered models as words, and what a run's files can be registered as. No React. */
import type { Lineage, Model } from "@/api/types";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/StatusPill";

export const STAGES = ["None", "Staging", "Production", "Archived"] as const;
export type Stage = (typeof STAGES)[number];

const LOOKS: Record<string, { tone: Tone; icon: IconName }> = {
  Staging: { tone: "warn", icon: "waiting" },
  Production: { tone: "good", icon: "completed" },
  Archived: { tone: "idle", icon: "folder" },
};

/** How a stage is shown; null where there is none. */
export function stageLook(stage: string | null | undefined): { word: string; tone: Tone; icon: IconName } | null {
  if (!stage || stage === "None") return null;
  return { word: stage, ...(LOOKS[stage] ?? { tone: "idle", icon: "tag" }) };
}

/** What a list says of a model: of its name, and of its newest version, where they are not the same. */
export function descriptionOf({ description, latest }: { description: string; latest: { description: string } | null }): string {
  return [...new Set([description, latest?.description ?? ""])].filter(Boolean).join(" · ");
}

export function modelBytes(model: Pick<Model, "files">): number {
  return model.files.reduce((sum, file) => sum + file.size, 0);
}

export interface OnnxCheck {
  agrees: boolean | null;
  facts: [string, string][];
}

const CHECK = "onnx_check.";

/** What `rookery models export --onnx` found when it compared the two; null for a model that was not exported. */
export function onnxCheck(properties: Record<string, string | null>): OnnxCheck | null {
  const found = Object.entries(properties).filter(([name]) => name.startsWith(CHECK));
  if (found.length === 0) return null;
  const facts = found.map(([name, value]) => [name.slice(CHECK.length).replaceAll("_", " "), value ?? "–"] as [string, string]);
  const number = (name: string) => Number(properties[CHECK + name] ?? NaN);
  const [difference, tolerance, same] = [number("largest_absolute_difference"), number("tolerance"), number("top1_agreement")];
  const isKnown = [difference, tolerance, same].every(Number.isFinite);
  return { agrees: isKnown ? difference <= tolerance && same >= 1 : null, facts };
}

/** What of a run can be registered: its files below `outputs`, and the folders that hold them, the likeliest first. */
export function registrable(names: readonly string[]): string[] {
  const inside = names.filter((name) => name.startsWith("outputs/"));
  const files = inside.length > 0 ? inside : names;
  const folders = new Set(files.map((name) => name.slice(0, name.lastIndexOf("/"))).filter((folder) => folder !== ""));
  const rank = (name: string) => (/\.(pt|pth|onnx|pkl|joblib|h5|safetensors|ckpt)$/i.test(name) ? 0 : /model/i.test(name) ? 1 : 2);
  return [...[...files].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b)), ...[...folders].sort()];
}

/** Names of models: the keeper has the last word, this is so that the form can say it first. */
export function nameProblem(name: string): string | null {
  if (!name) return "Give it a name.";
  if (!/^[\w.-]{1,255}$/.test(name)) return "Letters, digits, dots, dashes and underscores; 255 at most.";
  return null;
}

export interface Step {
  kind: string;
  icon: IconName;
  title: string;
  about: string;
  to?: string;
}

/** From data to run to model, in the order it came about. */
export function lineageSteps(lineage: Lineage): Step[] {
  const steps: Step[] = lineage.data
    .filter((each) => each.direction !== "output")
    .map((each) => ({ kind: "Data", icon: "data", title: each.name || each.kind, about: each.digest ? each.digest.slice(0, 12) : (each.context ?? each.kind) }));
  const commit = lineage.git.commit;
  if (lineage.snapshot_id || commit) {
    const about = typeof commit === "string" && commit ? `commit ${commit.slice(0, 10)}` : `snapshot ${lineage.snapshot_id?.slice(0, 10) ?? ""}`;
    steps.push({ kind: "Code", icon: "code", title: typeof lineage.git.branch === "string" && lineage.git.branch ? lineage.git.branch : "as it was submitted", about, to: lineage.run ? `/runs/${encodeURIComponent(lineage.run.id)}?tab=snapshot` : undefined });
  }
  if (lineage.environment) steps.push({ kind: "Environment", icon: "environment", title: lineage.environment, about: "what it ran with", to: `/environments/${encodeURIComponent(lineage.environment)}` });
  if (lineage.run) steps.push({ kind: "Run", icon: "runs", title: lineage.run.display_name || lineage.run.id, about: `${lineage.run.experiment} · ${lineage.run.status}`, to: `/runs/${encodeURIComponent(lineage.run.id)}` });
  const { model } = lineage;
  steps.push({ kind: "Model", icon: "model", title: `${model.name}, version ${model.version}`, about: model.framework ? `${model.framework} ${model.framework_version ?? ""}`.trim() : "registered" });
  return steps;
}
