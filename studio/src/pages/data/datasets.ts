/** Data sets as words. No React. */
import type { Dataset, Datastore, RunOfData } from "@/api/types";

export const datasetAddress = (name: string, version?: number): string => `/data/${encodeURIComponent(name)}${version === undefined ? "" : `?version=${version}`}`;

interface Source {
  datastore?: string;
  path?: string;
  url?: string;
}

/** Where its files are: one line for each source. */
export function sourcesOf(dataset: Pick<Dataset, "definition">): string[] {
  const sources = Array.isArray(dataset.definition.sources) ? (dataset.definition.sources as Source[]) : [];
  return sources.map((source) => source.url ?? `${source.datastore ?? "?"} › ${source.path || "all of it"}`);
}

const FORMATS: Record<string, string> = { delimited: "delimited text", parquet: "Parquet", json_lines: "JSON lines" };

/** "Files", or "Table (Parquet)". */
export function kindOf(dataset: Pick<Dataset, "kind" | "definition">): string {
  if (dataset.kind !== "tabular") return "Files";
  const type = (dataset.definition.format as { type?: string } | undefined)?.type ?? "";
  return `Table (${FORMATS[type] ?? (type || "?")})`;
}

const STORES: Record<string, string> = { folder: "Folder", s3: "S3", gcs: "Google Cloud Storage", azure: "Azure Blob", http: "Web server" };

export function storeKind(store: Pick<Datastore, "kind">): string {
  return STORES[store.kind] ?? store.kind;
}

/** Where it is, in a line; never what opens it. */
export function storePlace(store: Pick<Datastore, "kind" | "spec">): string {
  const of = (key: string) => (typeof store.spec[key] === "string" ? (store.spec[key] as string) : "");
  const place = { folder: of("folder"), http: of("url"), azure: [of("account"), of("container")].filter(Boolean).join(" › ") }[store.kind];
  const shown = place ?? [of("endpoint"), of("bucket"), of("prefix")].filter(Boolean).join(" › ");
  return shown || "–";
}

/** "given to", "made by", and "the same content" where it was not asked for by this name. */
export function usedAs(run: Pick<RunOfData, "direction" | "mode" | "by_name" | "name">): string {
  if (run.direction === "out") return "made by";
  return run.by_name ? `read as ${run.name} (${run.mode})` : "read the same content";
}

/** A path as places to go back to: `a/b` is [["a", "a"], ["b", "a/b"]]. */
export function trail(folder: string): [name: string, path: string][] {
  const parts = folder.split("/").filter(Boolean);
  return parts.map((part, index) => [part, parts.slice(0, index + 1).join("/")]);
}

/** The one before or after, without going round. */
export function neighbour<T>(all: readonly T[], current: T, step: 1 | -1): T | null {
  const at = all.indexOf(current);
  return at < 0 ? null : (all[at + step] ?? null);
}

export function hasWords(dataset: Dataset, text: string): boolean {
  return `${dataset.name} ${dataset.description} ${Object.entries(dataset.tags).flat().join(" ")}`.toLowerCase().includes(text.toLowerCase());
}

/** By its name, as the keeper tells it: what a browser shows as a picture. */
export function isPicture(path: string): boolean {
  return /\.(png|jpe?g|gif|bmp|webp)$/i.test(path);
}
