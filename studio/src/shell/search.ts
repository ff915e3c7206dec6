/** Runs by words, for the palette; the newest where there are none. */
import { call, type Answer } from "@/api/client";

export type FoundRun = Answer<"search_runs">["runs"][number];

const MOST = 8;
const RECENT = 5; // shown before anything is typed

export async function searchRuns(text: string, signal?: AbortSignal): Promise<FoundRun[]> {
  const columns = { metrics: [], params: [], tags: [] };
  const { runs } = await call("search_runs", { body: { text, limit: text ? MOST : RECENT, include_children: text !== "", columns }, signal });
  return runs;
}
