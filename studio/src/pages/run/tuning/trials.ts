/** The keeper's tuning → rows of the leader board, and what the parallel coordinates of Compare are laid out by. No React. */
import type { Answer } from "@/api/client";
import type { ComparedRow, Comparison } from "@/api/types";
import type { ShownRun } from "@/pages/compare/compared";

export type Tuning = Answer<"get_tuning">;
export type Trial = Tuning["trials"][number];

const OVER = ["Completed", "Failed", "Canceled"];
// Places in the colours of charts: the best stands out, what was stopped is dashed.
const BEST = 1;
const OTHERS = 0;

/** The best first, those without a value last, in the order in which they began. */
export function ranked(trials: readonly Trial[]): Trial[] {
  const place = (trial: Trial) => trial.rank ?? trials.length + 1;
  return [...trials].sort((a, b) => place(a) - place(b) || a.number - b.number);
}

/** How far it is, in a line. */
export function progressWords(tuning: Tuning): string {
  const ended = tuning.trials.filter((trial) => OVER.includes(trial.status)).length;
  const stopped = tuning.trials.filter((trial) => trial.stopped).length;
  const parts = [`${ended} of ${tuning.max_total_runs} ended`];
  if (tuning.trials.length > ended) parts.push(`${tuning.trials.length - ended} under way`);
  if (stopped) parts.push(`${stopped} stopped early`);
  return parts.join(", ");
}

/** A name without the dashes of an argument. */
export function paramName(name: string): string {
  return name.replace(/^-+/, "");
}

/** What is tuned, as a person would write it: `uniform(0.1, 0.9)`. */
export function distributionWords(given: unknown): string {
  if (!Array.isArray(given) || given.length !== 2 || !Array.isArray(given[1])) return String(given);
  const [name, values] = given as [string, unknown[]];
  const options = name === "choice" && Array.isArray(values[0]) ? (values[0] as unknown[]) : values;
  const shown = options.slice(0, 8).map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value)));
  return `${name}(${shown.join(", ")}${options.length > 8 ? ", …" : ""})`;
}

/** The policy with its options. */
export function policyWords(tuning: Tuning): string {
  const options = Object.entries(tuning.policy_options).map(([name, value]) => `${name} ${String(value)}`);
  return tuning.policy === "none" ? "none: every child runs to its end" : [tuning.policy, ...options].join(", ");
}

/** Parameters with how much each had to do with the result, the most first. */
export function shares(tuning: Tuning): { name: string; share: number }[] {
  return Object.entries(tuning.importances)
    .map(([name, share]) => ({ name: paramName(name), share }))
    .sort((a, b) => b.share - a.share);
}

/** One axis for each parameter, one for the metric; one line for each child that has a value. */
export function toParallel(tuning: Tuning): { comparison: Comparison; runs: ShownRun[] } {
  const shown = ranked(tuning.trials).filter((trial) => trial.best !== null);
  const row = (name: string, values: unknown[]): ComparedRow => ({ name, differs: new Set(values.map((value) => JSON.stringify(value))).size > 1, values }) as ComparedRow;
  const params = Object.keys(tuning.space).map((name) => row(paramName(name), shown.map((trial) => plain(trial.parameters[name]))));
  const metric = row(tuning.metric, shown.map((trial) => trial.best));
  // An axis that is the same for all is part of the picture here: it was searched.
  const comparison = { runs: [], params: params.map((each) => ({ ...each, differs: true })), metrics: [{ ...metric, differs: true }], attributes: [], tags: [] } as unknown as Comparison;
  const runs = shown.map((trial, place) => ({
    id: trial.run_id,
    label: `Child ${trial.number}${trial.rank === 1 ? ", the best" : ""}: ${words(trial)}`,
    status: trial.status,
    experiment: "",
    color: trial.rank === 1 ? BEST : OTHERS,
    isDashed: trial.stopped !== "",
    start: 0,
    place,
  }));
  return { comparison, runs: runs.reverse() }; // the best is drawn over the others
}

/** Its values in a line. */
export function words(trial: Trial): string {
  return Object.entries(trial.parameters)
    .map(([name, value]) => `${paramName(name)} ${typeof value === "number" ? Number(value.toPrecision(4)) : String(plain(value))}`)
    .join(", ");
}

function plain(value: unknown): unknown {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
}
