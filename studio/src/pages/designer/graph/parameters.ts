/** Parameters of a module: what was typed as a value, whether it is allowed, and the sentence where it is not. The keeper checks the same. */
import { boundTo, type CardParameter, type ParameterType } from "./model";

export interface Checked {
  /** As it is stored: a number, a text, a boolean; what was typed where it is none. */
  value: unknown;
  problem: string | null;
}

/** What was typed, or chosen. Empty means: as the card says. */
export function check(parameter: CardParameter, given: unknown): Checked {
  if (boundTo(given) !== null) return { value: given, problem: null };
  if (given === undefined || given === null || (typeof given === "string" && given.trim() === "")) {
    const isMissing = parameter.required || (parameter.default !== "" && parameter.default !== null && given !== undefined);
    return { value: parameter.kind === "String" ? "" : null, problem: isMissing ? `${parameter.label} is missing. ${allowed(parameter)}` : null };
  }
  switch (parameter.kind) {
    case "Boolean":
      return typeof given === "boolean" ? { value: given, problem: null } : { value: given, problem: wrong(parameter, given) };
    case "Integer":
    case "Float":
      return checkNumber(parameter, given);
    case "Mode":
      return { value: given, problem: parameter.choices.includes(String(given)) ? null : wrong(parameter, given) };
    default:
      return { value: String(given), problem: null };
  }
}

function checkNumber(parameter: CardParameter, given: unknown): Checked {
  const isWhole = parameter.kind === "Integer";
  const text = String(given).trim();
  const number = typeof given === "boolean" || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? NaN : Number(text);
  if (!Number.isFinite(number) || (isWhole && !Number.isInteger(number))) return { value: given, problem: wrong(parameter, given) };
  const { low, high, above } = parameter;
  const isOut = (low !== null && number < low) || (high !== null && number > high) || (above !== null && number <= above);
  return { value: number, problem: isOut ? wrong(parameter, text) : null };
}

function wrong(parameter: CardParameter, given: unknown): string {
  return `${parameter.label} is ${typeof given === "string" ? given : JSON.stringify(given)}. ${allowed(parameter)}`;
}

/** What may be given, as a sentence. */
export function allowed(parameter: CardParameter): string {
  switch (parameter.kind) {
    case "Boolean":
      return "Allowed: true, false.";
    case "Mode":
      return `Allowed: ${parameter.choices.join(", ")}.`;
    case "Integer":
    case "Float":
      return `Allowed: ${parameter.kind === "Integer" ? "a whole number" : "a number"}${range(parameter)}.`;
    default:
      return "Allowed: a text.";
  }
}

/** " from 0 to 1", " above 0", or nothing. */
export function range({ low, high, above }: Pick<CardParameter, "low" | "high" | "above">): string {
  if (above !== null) return high === null ? ` above ${above}` : ` above ${above}, at most ${high}`;
  if (low !== null && high !== null) return ` from ${low} to ${high}`;
  if (low !== null) return `, at least ${low}`;
  return high !== null ? `, at most ${high}` : "";
}

/** Whether it counts, given the others: `Crop size` only with `Center crop`. */
export function counts(parameter: CardParameter, all: readonly CardParameter[], given: Record<string, unknown>): boolean {
  if (!parameter.when) return true;
  const [name, wanted] = parameter.when;
  const value = given[name] ?? all.find((each) => each.name === name)?.default;
  return boundTo(value) !== null || value === wanted;
}

/** The type of a pipeline's parameter that stands for this one. */
export function typeFor(parameter: CardParameter): ParameterType {
  return ({ Integer: "integer", Float: "number", Boolean: "boolean" } as Record<string, ParameterType>)[parameter.kind] ?? "string";
}

/** What was typed for a parameter of the pipeline itself. */
export function checkTyped(name: string, type: ParameterType, text: string): Checked {
  if (type === "boolean") return /^(true|false)$/i.test(text.trim()) ? { value: /^true$/i.test(text.trim()), problem: null } : { value: text, problem: `${name} is ${text || "empty"}. Allowed: true, false.` };
  if (type !== "integer" && type !== "number") return { value: text, problem: null };
  const number = text.trim() === "" ? NaN : Number(text);
  const isGood = Number.isFinite(number) && (type === "number" || Number.isInteger(number));
  return isGood ? { value: number, problem: null } : { value: text, problem: `${name} is ${text || "empty"}. Allowed: a ${type === "integer" ? "whole number" : "number"}.` };
}

/** A name for something new that nobody has yet: "rate", "rate_2". */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const base = wanted.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^_+|_+$/g, "") || "node";
  const all = new Set(taken);
  if (!all.has(base)) return base;
  for (let number = 2; ; number += 1) if (!all.has(`${base}_${number}`)) return `${base}_${number}`;
}
