/** The tabs of a run's page: each has a folder with a `tab.ts` in it, found here by itself, so that adding one touches no shared list. */
import { lazy, type ComponentType } from "react";
import { patiently } from "@/router/loading";
import type { Answer } from "@/api/client";

export type Overview = Answer<"get_overview">;
export type Run = Overview["run"];

export interface TabProps {
  run: Run;
  /** Asked anew whenever something of the run happens. */
  overview: Overview;
}

export interface RunTab {
  /** In the address: `?tab=<id>`. */
  id: string;
  label: string;
  /** Overview 10, Metrics 20, Logs 30, Outputs 40, Snapshot 50, Nodes 60, Reproduce 70. */
  order: number;
  load: () => Promise<{ default: ComponentType<TabProps> }>;
  /** A number beside the word. */
  count?: (overview: Overview) => number | undefined;
  /** Left out where it would be empty for good, e.g. the snapshot of a run that has none. */
  isShown?: (overview: Overview) => boolean;
}

/** What a tab.ts exports as its default; here only for the types. */
export function defineTab(tab: RunTab): RunTab {
  return tab;
}

const found = import.meta.glob<{ default: RunTab }>("./*/tab.ts", { eager: true });

export const tabs: (RunTab & { Shown: ComponentType<TabProps> })[] = Object.values(found)
  .map((each) => ({ ...each.default, Shown: lazy(patiently(each.default.load)) }))
  .sort((a, b) => a.order - b.order);
