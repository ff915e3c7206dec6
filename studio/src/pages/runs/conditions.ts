/** Conditions of the filter builder: "metric val/loss below 0.1". In words, in the address, and as the keeper takes them. Pure. */
import type { RunCondition } from "@/api/types";
import { formatTime } from "@/components/format";

export type Kind = RunCondition["kind"];
export type Op = "is" | "not" | "has" | "in" | "lt" | "le" | "gt" | "ge" | "any" | "none";
/** How a value is written: what the field for it is. */
export type Sort = "text" | "number" | "time" | "status";

export interface Condition {
  kind: Kind;
  key: string;
  op: Op;
  /** As typed; times are ISO in UTC, so that a shared address means the same moment everywhere. Several (`in`) are parted by commas. */
  value: string;
}

export const KINDS: Record<Kind, string> = { metric: "Metric", param: "Parameter", tag: "Tag", attribute: "Field" };

/** What every run has. */
export const FIELDS: Record<string, { title: string; sort: Sort }> = {
  name: { title: "Name", sort: "text" },
  status: { title: "Status", sort: "status" },
  experiment: { title: "Experiment", sort: "text" },
  compute: { title: "Compute", sort: "text" },
  user: { title: "Submitted by", sort: "text" },
  kind: { title: "Kind", sort: "text" },
  description: { title: "Description", sort: "text" },
  id: { title: "Id", sort: "text" },
  created: { title: "Created", sort: "time" },
  started: { title: "Started", sort: "time" },
  ended: { title: "Ended", sort: "time" },
  duration: { title: "Duration (seconds)", sort: "number" },
  number: { title: "Number", sort: "number" },
  attempt: { title: "Attempt", sort: "number" },
};

const WORDS: Record<Op, string> = { is: "is", not: "is not", has: "contains", in: "is one of", lt: "<", le: "≤", gt: ">", ge: "≥", any: "is there", none: "is not there" };
const TIME_WORDS: Partial<Record<Op, string>> = { lt: "before", ge: "since" };
const SIGNS: Partial<Record<Op, string>> = { is: "=", not: "!=", lt: "<", le: "<=", gt: ">", ge: ">=", any: "IS NOT NULL", none: "IS NULL", in: "IN", has: "ILIKE" };
const OPS = Object.keys(WORDS) as Op[];

/** Whether it is compared as a number, a text, or a moment. Parameters and tags are both: the operator decides. */
export function sortOf(kind: Kind, key: string): Sort {
  if (kind === "metric") return "number";
  return kind === "attribute" ? (FIELDS[key]?.sort ?? "text") : "text";
}

export function opsFor(kind: Kind, key: string): Op[] {
  const sort = sortOf(kind, key);
  if (kind === "metric") return ["lt", "le", "gt", "ge", "is", "not", "any", "none"];
  if (kind !== "attribute") return ["is", "not", "has", "in", "lt", "le", "gt", "ge", "any", "none"];
  if (sort === "status") return ["is", "not", "in"];
  if (sort === "time") return ["ge", "lt", "any", "none"];
  return sort === "number" ? ["lt", "le", "gt", "ge", "is", "not"] : ["is", "not", "has", "in"];
}

export function opWord(op: Op, sort: Sort): string {
  return (sort === "time" && TIME_WORDS[op]) || WORDS[op];
}

export function needsValue(op: Op): boolean {
  return op !== "any" && op !== "none";
}

/** What is wrong with it, in words; null when it can be asked. */
export function problemOf(condition: Condition): string | null {
  const { kind, key, op, value } = condition;
  if (!key.trim()) return `Which ${KINDS[kind].toLowerCase()}?`;
  if (kind === "attribute" && !FIELDS[key]) return `Runs have no field ${key}.`;
  if (!needsValue(op)) return null;
  if (!value.trim()) return "What should it be compared with?";
  if (isNumeric(condition) && !Number.isFinite(Number(value))) return `${value} is no number.`;
  if (sortOf(kind, key) === "time" && Number.isNaN(Date.parse(value))) return `${value} is no time.`;
  return null;
}

/** "val/loss < 0.1" */
export function describe(condition: Condition): string {
  const { kind, key, op, value } = condition;
  const sort = sortOf(kind, key);
  const name = kind === "attribute" ? (FIELDS[key]?.title ?? key) : key;
  if (!needsValue(op)) return `${name} ${opWord(op, sort)}`;
  return `${name} ${opWord(op, sort)} ${sort === "time" ? formatTime(value) : value}`;
}

export function toKeeper(condition: Condition): RunCondition {
  const { kind, key, op, value } = condition;
  const asked = { kind, key, op: SIGNS[op] };
  if (!needsValue(op)) return asked;
  if (op === "has") return { ...asked, value: `%${value.trim()}%` };
  if (op === "in") return { ...asked, value: value.split(",").map((each) => each.trim()).filter(Boolean) };
  return { ...asked, value: isNumeric(condition) ? Number(value) : value.trim() };
}

/** `metric:val/loss:lt:0.1;param:optimizer:is:adam`: what an address holds. */
export function formatConditions(conditions: readonly Condition[]): string {
  return conditions.map(({ kind, key, op, value }) => [kind, key, op, ...(needsValue(op) ? [value] : [])].map(escape).join(":")).join(";");
}

/** What is no condition is left out: somebody has typed it. */
export function parseConditions(text: string | null): Condition[] {
  return (text ?? "").split(";").flatMap((each) => {
    const [kind = "", key = "", op = "", value = ""] = each.split(":").map(unescape);
    const found = { kind, key, op, value } as Condition;
    const isKnown = kind in KINDS && OPS.includes(found.op) && opsFor(found.kind, key).includes(found.op);
    return isKnown && problemOf(found) === null ? [found] : [];
  });
}

function isNumeric({ kind, key, op }: Condition): boolean {
  return sortOf(kind, key) === "number" || ((kind === "param" || kind === "tag") && ["lt", "le", "gt", "ge"].includes(op));
}

function escape(part: string): string {
  return part.replace(/[%:;]/g, (sign) => encodeURIComponent(sign));
}

function unescape(part: string): string {
  return part.replace(/%(25|3A|3B)/gi, (sign) => decodeURIComponent(sign));
}
