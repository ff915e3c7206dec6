/** What the pages of endpoints show, without React: words, charts' data, snippets, answers read. */
import { alignSeries, type Aligned } from "@/charts/data";
import type { Curve } from "@/charts/Chart";
import type { Endpoint, EndpointLatency, EndpointVersion } from "@/api/types";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/StatusPill";

export interface Look {
  word: string;
  tone: Tone;
  icon: IconName;
  says: string;
}

const STATES: Record<string, Look> = {
  Healthy: { word: "Healthy", tone: "good", icon: "completed", says: "Requests are answered" },
  Transitioning: { word: "Coming up", tone: "busy", icon: "running", says: "It is being prepared and started" },
  Unhealthy: { word: "Unhealthy", tone: "warn", icon: "warning", says: "Its processes die; they are started again and again" },
  Failed: { word: "Failed", tone: "bad", icon: "failed", says: "It could not be brought up" },
};

export function stateLook(state: string): Look {
  return STATES[state] ?? { word: state, tone: "idle", icon: "info", says: "" };
}

export const KIND_WORDS: Record<string, string> = { local: "Local", aci: "ACI", aks: "AKS" };

/** "birds:3, nets:1" of all versions, each once. */
export function modelsOf(endpoint: Pick<Endpoint, "versions">): string[] {
  return [...new Set(endpoint.versions.flatMap((version) => version.models.map((model) => `${model.name}:${model.version}`)))];
}

/** What answers: models by name, or the pipeline that it was deployed from. */
export function whatAnswers(endpoint: Pick<Endpoint, "versions" | "properties">): string {
  const models = modelsOf(endpoint);
  if (models.length > 0) return models.join(", ");
  return endpoint.properties.pipeline ? `the pipeline ${String(endpoint.properties.pipeline)}` : "no model";
}

export function readyReplicas(version: Pick<EndpointVersion, "replicas">): number {
  return version.replicas.filter((replica) => replica.state === "ready").length;
}

/** What is under way, in a few words; null when nothing is. */
export function underWay(endpoint: Pick<Endpoint, "operation">): string | null {
  const { operation } = endpoint;
  if (!operation || operation.state !== "Running") return null;
  const verb = { create: "Deploying", update: "Updating", reload: "Reloading" }[operation.kind as string] ?? operation.kind;
  return operation.words ? `${verb}: ${operation.words}` : `${verb} …`;
}

export interface LatencyChart {
  curves: Curve[];
  data: Aligned;
}

type Series = EndpointLatency["series"];

/** p50, p95 and p99 in milliseconds over time; with several versions each has its own. */
export function latencyChart(series: Series): LatencyChart {
  const several = series.length > 1;
  const kinds = [
    ["p50_ms", "p50", 0],
    ["p95_ms", "p95", 1],
    ["p99_ms", "p99", 2],
  ] as const;
  const parts = series.flatMap((each, at) =>
    kinds.map(([key, word, color]) => ({
      curve: { label: several ? `${each.version} ${word}` : word, color: several ? at * 3 + color : color } as Curve,
      xs: each.times,
      ys: each[key] as (number | null)[],
    })),
  );
  return { curves: parts.map((part) => part.curve), data: alignSeries(parts.map(({ xs, ys }) => ({ xs, ys }))) };
}

/** Requests per second over time, and those that failed. */
export function rateChart(series: Series, stepS: number): LatencyChart {
  const several = series.length > 1;
  const parts = series.flatMap((each, at) => [
    { curve: { label: several ? `${each.version} requests/s` : "requests/s", color: at * 2 } as Curve, xs: each.times, ys: each.requests.map((count) => count / stepS) as (number | null)[] },
    { curve: { label: several ? `${each.version} errors/s` : "errors/s", color: at * 2 + 1, isDashed: true } as Curve, xs: each.times, ys: each.errors.map((count) => count / stepS) as (number | null)[] },
  ]);
  return { curves: parts.map((part) => part.curve), data: alignSeries(parts.map(({ xs, ys }) => ({ xs, ys }))) };
}

/** What a chart shows of the time that was asked for: from a little before the first request on, where there were none before. */
export function shownRange(series: Series, to: number, seconds: number): [number, number] {
  const first = Math.min(...series.map((each) => each.times[0] ?? to));
  return [Math.max(to - seconds, Math.min(first, to) - 60), to];
}

export interface Prediction {
  label: string;
  probability: number;
  /** All classes, the likeliest first. */
  all: [label: string, probability: number][];
}

/** A picture's label, where the answer tells one. */
export function readPrediction(answer: unknown): Prediction | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { label, probability, probabilities } = answer as Record<string, unknown>;
  if (typeof label !== "string" && typeof label !== "number") return null;
  if (typeof probability !== "number") return null;
  const all = Object.entries((typeof probabilities === "object" && probabilities) || { [String(label)]: probability })
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .sort((one, other) => other[1] - one[1]);
  return { label: String(label), probability, all };
}

/** `queue;dur=0.1, run;dur=2` → [["queue", 0.1], ["run", 2]]: the stages of an answer, in milliseconds. */
export function readTimings(header: string | null): [stage: string, ms: number][] {
  return (header ?? "").split(",").flatMap((part) => {
    const [name, ...rest] = part.trim().split(";");
    const dur = rest.map((each) => /^\s*dur=([\d.]+)/.exec(each)?.[1]).find((value) => value !== undefined);
    return name && dur !== undefined ? [[name, Number(dur)] as [string, number]] : [];
  });
}

export type Shown = { kind: "picture"; url: string } | { kind: "text"; text: string } | { kind: "none" };

/** Whether a file is shown as a picture, by its type and its name. */
export function isPicture(file: { type: string; name: string }): boolean {
  return file.type.startsWith("image/") || /\.(jpe?g|png|gif|webp|bmp)$/i.test(file.name);
}

export interface Snippets {
  curl: string;
  python: string;
  sdk: string;
}

/** How to ask it from elsewhere. Keys are never in it: `$KEY` stands for one. */
export function snippets(endpoint: Pick<Endpoint, "name" | "scoring_uri" | "auth_enabled" | "token_auth_enabled" | "versions"> & Partial<Pick<Endpoint, "properties">>): Snippets {
  const isOpen = !endpoint.auth_enabled && !endpoint.token_auth_enabled;
  const takes = endpoint.versions.some((version) => version.inference !== null) ? endpoint.properties?.takes : undefined; // of a pipeline's endpoint
  const takesPictures = takes === "pictures" || endpoint.versions.some((version) => version.inference === null && (version.no_code === "onnx" || version.no_code === "pytorch"));
  const example = takes === "rows" ? '{"data": [{"column": 1}]}' : '{"data": [[1, 2, 3]]}';
  const [type, body] = takesPictures ? ["image/jpeg", "--data-binary @picture.jpg"] : ["application/json", `-d '${example}'`];
  const curl = [`curl ${endpoint.scoring_uri}`, ...(isOpen ? [] : ['-H "Authorization: Bearer $KEY"']), `-H "Content-Type: ${type}"`, body].join(" \\\n  ");
  const headers = isOpen ? `{"Content-Type": "${type}"}` : `{"Content-Type": "${type}", "Authorization": "Bearer " + os.environ["KEY"]}`;
  const data = takesPictures ? 'open("picture.jpg", "rb").read()' : `json.dumps(${example}).encode()`;
  const python = [
    `import json${isOpen ? "" : ", os"}, urllib.request`,
    "",
    `request = urllib.request.Request("${endpoint.scoring_uri}", ${data}, ${headers})`,
    "print(json.load(urllib.request.urlopen(request)))",
  ].join("\n");
  const sdk = ["from azureml.core import Webservice, Workspace", "", `service = Webservice(Workspace.from_config(), "${endpoint.name}")`, `print(service.run(${takesPictures ? 'open("picture.jpg", "rb").read()' : `'${example}'`}))`].join("\n");
  return { curl, python, sdk };
}

export const WINDOWS = [
  ["300", "5 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "1 week"],
] as const;

/** The shares of all versions when one gets another: the rest goes to the default one. null: it cannot be. */
export function sharesAfter(versions: readonly Pick<EndpointVersion, "name" | "traffic" | "is_default">[], name: string, share: number): Map<string, number> | null {
  if (!(share >= 0 && share <= 100)) return null;
  const fixed = versions.filter((version) => !version.is_default && version.name !== name).reduce((sum, version) => sum + version.traffic, 0);
  const changed = versions.find((version) => version.name === name);
  if (!changed || changed.is_default || fixed + share > 100) return null;
  return new Map(versions.map((version) => [version.name, version.name === name ? share : version.is_default ? 100 - fixed - share : version.traffic]));
}

/** A name for an endpoint of this model that is free. */
export function freeName(model: string, taken: readonly string[]): string {
  const base = model.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+|-+$/g, "") || "model";
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}
