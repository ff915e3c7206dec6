/** Doing one thing with many runs: in portions the keeper takes, and what came of it in a sentence. No React. */
import type { ActionAsked, ActionResult } from "@/api/types";
import { plural } from "@/components/format";

export type Action = ActionAsked["action"];

export const PORTION = 500;
const DONE: Record<Action, string> = {
  tag: "Tagged",
  cancel: "Asked to stop:",
  archive: "Archived",
  unarchive: "Taken out of the archive:",
  delete: "In the bin:",
  restore: "Taken out of the bin:",
  resubmit: "Submitted again:",
};
/** What takes it back. */
export const OPPOSITE: Partial<Record<Action, Action>> = { delete: "restore", restore: "delete", archive: "unarchive", unarchive: "archive" };

export interface Outcome {
  done: string[];
  fresh: string[]; // runs that a resubmission has made
  text: string;
  tone: "good" | "bad";
}

export function outcomeOf(action: Action, results: readonly ActionResult[]): Outcome {
  const done = results.filter((result) => result.ok).map((result) => result.run_id);
  const fresh = results.flatMap((result) => (result.new_run_id ? [result.new_run_id] : []));
  const failed = results.filter((result) => !result.ok);
  const said = done.length ? `${DONE[action]} ${plural(done.length, "run")}.` : "";
  const why = failed[0]?.error?.message ?? "The keeper did not say why.";
  const not = failed.length ? `${failed.length === 1 ? "One was" : `${failed.length} were`} left as they are: ${why}` : "";
  return { done, fresh, text: [said, failed.length === 1 ? not.replace("as they are", "as it is") : not].filter(Boolean).join(" "), tone: failed.length ? "bad" : "good" };
}

export function portions<T>(items: readonly T[], size = PORTION): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** Each portion after the other; one that fails as a whole ends it, with what was done before. */
export async function actInPortions(ids: readonly string[], act: (ids: string[]) => Promise<ActionResult[]>, onDone?: (count: number) => void): Promise<ActionResult[]> {
  const results: ActionResult[] = [];
  for (const portion of portions(ids)) {
    try {
      results.push(...(await act(portion)));
    } catch (error) {
      if (results.length === 0) throw error;
      const message = error instanceof Error ? error.message : String(error);
      results.push(...ids.slice(results.length).map((run_id) => ({ run_id, ok: false, status: null, new_run_id: null, error: { code: "error", message } })));
      break;
    }
    onDone?.(results.length);
  }
  return results;
}

/** `team=vision, keep` → {team: "vision", keep: ""}; null when a name is missing. */
export function parseTags(text: string): Record<string, string> | null {
  const pairs = text.split(",").map((each) => each.trim()).filter(Boolean).map((each) => {
    const at = each.indexOf("=");
    return at < 0 ? [each, ""] : [each.slice(0, at).trim(), each.slice(at + 1).trim()];
  });
  return pairs.every(([name]) => name) ? Object.fromEntries(pairs) : null;
}
