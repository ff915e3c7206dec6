/** How busy a compute target is, in words. No React. */
import { plural } from "@/components/format";
import type { HomeAnswer } from "./Home";

type Target = Pick<HomeAnswer["compute"][number], "kind" | "max_nodes" | "current_nodes" | "busy_nodes" | "running_runs" | "queued_runs">;

const NO_LIMIT = 100_000; // what the keeper says of targets that take as many nodes as there are

/** Whether it says anything how many nodes it could have at most. */
export function isLimited(target: Pick<Target, "max_nodes">): boolean {
  return target.max_nodes > 0 && target.max_nodes < NO_LIMIT;
}

/** "1 of 4 nodes busy · 1 run · 2 waiting"; without a limit "3 nodes busy". */
export function busyWords(target: Target): string {
  const words = [];
  if (target.kind !== "local") words.push(nodesWords(target));
  if (target.kind === "local" || target.running_runs > 0) words.push(plural(target.running_runs, "run"));
  if (target.queued_runs > 0) words.push(`${target.queued_runs} waiting`);
  return words.join(" · ");
}

function nodesWords({ max_nodes, busy_nodes, current_nodes }: Target): string {
  if (isLimited({ max_nodes })) return `${busy_nodes} of ${plural(max_nodes, "node")} busy`;
  if (current_nodes > busy_nodes) return `${busy_nodes} of ${plural(current_nodes, "node")} busy`;
  return busy_nodes > 0 ? `${plural(busy_nodes, "node")} busy` : "idle";
}
