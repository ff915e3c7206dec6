/** The ids of all runs that a filter leaves, page by page. */
import { call } from "@/api/client";
import type { Question } from "./question";

const PAGE = 500;
/** More are not done at once: whoever means them narrows the filter, or uses the command line. */
export const MOST_COLLECTED = 20_000;

export async function collectIds(filter: Question, onFound: (count: number) => void, ask = (body: Question) => call("search_runs", { body })): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ask>> = await ask({ ...filter, cursor, limit: PAGE, columns: { metrics: [], params: [], tags: [] } });
    ids.push(...page.runs.map((run) => run.id));
    cursor = page.cursor;
    onFound(ids.length);
  } while (cursor !== null && ids.length < MOST_COLLECTED);
  return ids.slice(0, MOST_COLLECTED);
}
