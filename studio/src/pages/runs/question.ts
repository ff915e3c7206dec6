/** The address of the runs table ↔ what the keeper is asked. Pure: the address is the view's whole state, so it can be shared. */
import type { SearchAsked } from "@/api/types";
import type { Sort } from "@/components/Table";
import { columnsAsked, type ColumnId } from "./choice";
import { parseConditions, toKeeper } from "./conditions";

export type Question = SearchAsked;

export const PAGE = 100;
const ATTRIBUTES = ["created", "started", "ended", "duration", "name", "number", "status", "experiment", "compute", "user", "kind", "attempt", "id"];
/** What of the address leaves runs out. */
export const FILTERS = ["q", "status", "compute", "experiment", "user", "where", "children", "view"];

/** Columns are `created`, `metric:loss`, `param:lr`, `tag:team`. */
export function parseSort(text: string | null): Sort | null {
  if (!text) return null;
  const ascending = !text.startsWith("-");
  const id = ascending ? text : text.slice(1);
  return ATTRIBUTES.includes(id) || /^(metric|param|tag):./.test(id) ? { id, ascending } : null;
}

export function formatSort(sort: Sort): string {
  return (sort.ascending ? "" : "-") + sort.id;
}

/** What the keeper sorts a column by; null: it cannot. */
export function sortIdOf(column: ColumnId): string | null {
  if (column.startsWith("chart:")) return `metric:${column.slice(6)}`;
  return column.includes(":") || ATTRIBUTES.includes(column) ? column : null;
}

/** Which runs, without how they are shown: what is counted, and what "all that fit" means. */
export function toFilter(search: URLSearchParams, experiment?: string): Question {
  const question: Question = {};
  const text = search.get("q")?.trim();
  if (text) question.text = text;
  const experiments = experiment ? [experiment] : search.getAll("experiment");
  if (experiments.length) question.experiments = experiments;
  const statuses = search.get("status")?.split(",").filter(Boolean) ?? [];
  if (statuses.length) question.statuses = statuses;
  for (const [key, name] of [["computes", "compute"], ["users", "user"]] as const) {
    const value = search.get(name);
    if (value) question[key] = [value];
  }
  const where = parseConditions(search.get("where"));
  if (where.length) question.where = where.map(toKeeper);
  if (search.get("children") === "yes") question.include_children = true;
  const view = search.get("view");
  if (view === "archive") question.archived = "only";
  if (view === "bin") Object.assign(question, { deleted: true, archived: "all" });
  return question;
}

export function toQuestion(search: URLSearchParams, experiment?: string, columns: readonly ColumnId[] = []): Question {
  const question: Question = { ...toFilter(search, experiment), ...columnsAsked(columns), limit: PAGE };
  const sort = parseSort(search.get("sort"));
  if (sort) {
    const colon = sort.id.indexOf(":");
    const kind = colon < 0 ? "attribute" : (sort.id.slice(0, colon) as "metric" | "param" | "tag");
    question.sort = [{ kind, key: sort.id.slice(colon + 1), ascending: sort.ascending }];
  }
  return question;
}
