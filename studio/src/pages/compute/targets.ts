/** Compute targets and nodes as words and numbers. No React. */
import type { Compute, Node } from "@/api/types";
import { formatBytes, plural } from "@/components/format";
import type { IconName } from "@/components/Icon";
import type { Tone } from "@/components/StatusPill";

/** What the keeper says of a node besides what every engine knows. */
export type ComputeNode = Node & {
  num_cpus?: number | null;
  num_gpus?: number | null;
  free_cpus?: number | null;
  free_gpus?: number | null;
  memory_bytes?: number | null;
  since_utc?: string | null;
  runs?: { run_id: string; node: number; id: string; state: string }[];
};

const ENGINES: Record<string, string> = { embedded: "nodes of this machine", ray: "Ray cluster", slurm: "Slurm cluster", ssh: "machines over SSH", kubernetes: "Kubernetes" };

export function engineWord(target: Pick<Compute, "kind" | "spec">): string {
  if (target.kind === "local") return "this machine";
  const engine = String(target.spec.engine ?? "embedded");
  return ENGINES[engine] ?? engine;
}

/** Whether its size is ours to change: other machines are as many as there are. */
export function isEmbedded(target: Pick<Compute, "kind" | "spec">): boolean {
  return target.kind !== "local" && (target.spec.engine ?? "embedded") === "embedded";
}

export function busyNodes(target: Pick<Compute, "node_states">): number {
  return (target.node_states.running ?? 0) + (target.node_states.leaving ?? 0) + (target.node_states.preparing ?? 0);
}

/** "1 running, 2 idle": what there is none of is left out. */
export function statesWords(states: Record<string, number>): string {
  const found = Object.entries(states).filter(([, count]) => count > 0);
  return found.map(([state, count]) => `${count} ${state}`).join(", ") || "none up";
}

export function sizeWords(target: Pick<Compute, "kind" | "spec" | "max_nodes">): string {
  if (target.kind === "local") return `${plural(target.max_nodes, "run")} at a time`;
  if (!isEmbedded(target)) return target.max_nodes > 0 && target.max_nodes < 100_000 ? `up to ${plural(target.max_nodes, "node")}` : "as many as there are";
  return `${Number(target.spec.min_nodes ?? 0)} to ${plural(Number(target.spec.max_nodes ?? target.max_nodes), "node")}`;
}

const NODES: Record<string, { tone: Tone; icon: IconName }> = {
  idle: { tone: "good", icon: "completed" },
  running: { tone: "busy", icon: "running" },
  preparing: { tone: "busy", icon: "waiting" },
  leaving: { tone: "warn", icon: "logout" },
  preempted: { tone: "warn", icon: "warning" },
  unusable: { tone: "bad", icon: "failed" },
  down: { tone: "bad", icon: "failed" },
  drained: { tone: "warn", icon: "canceled" },
};

export function nodeLook(state: string): { tone: Tone; icon: IconName } {
  return NODES[state] ?? { tone: "idle", icon: "info" };
}

/** "4 cores, 2 free · 1 GPU · 16 GB". */
export function nodeHas(node: ComputeNode): string {
  const parts: string[] = [];
  if (node.num_cpus) parts.push(`${plural(node.num_cpus, "core")}${typeof node.free_cpus === "number" ? `, ${node.free_cpus} free` : ""}`);
  if (node.num_gpus) parts.push(`${plural(node.num_gpus, "GPU")}${typeof node.free_gpus === "number" ? `, ${node.free_gpus} free` : ""}`);
  if (node.memory_bytes) parts.push(formatBytes(node.memory_bytes));
  return parts.join(" · ");
}

export interface SizeForm {
  min: string;
  max: string;
  idle: string;
}

/** What is wrong with it, or null. The keeper has the last word. */
export function sizeProblem({ min, max, idle }: SizeForm): string | null {
  for (const [label, text] of [["The least", min], ["The most", max], ["The seconds", idle]] as const) {
    if (!/^\d+$/.test(text.trim())) return `${label} must be a whole number, 0 or more. Given: ${text.trim() || "nothing"}.`;
  }
  if (Number(max) < 1) return "There must be room for one node at least.";
  if (Number(min) > Number(max)) return `The least (${min}) is more than the most (${max}).`;
  return null;
}
