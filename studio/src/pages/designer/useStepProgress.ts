/** How far running steps are, from what they log; asked anew when they log something. */
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { PipelineRun } from "./asks";
import type { Catalog } from "./graph/model";
import { progressOfStep, valuesOf } from "./graph/progress";

const MOST = 20;

export function useStepProgress(ran: PipelineRun, catalog: Catalog): ReadonlyMap<string, { share: number; words: string }> {
  const running = Object.entries(ran.steps)
    .filter(([, step]) => step.status === "Running" && step.run_id)
    .slice(0, MOST);
  const asked = useQueries({
    queries: running.map(([, step]) => ({
      queryKey: keys.run(step.run_id ?? "", "overview"),
      queryFn: () => call("get_overview", { path: { run_id: step.run_id ?? "" } }),
    })),
  });
  const told = running.map(([node], index) => ({ node, metrics: asked[index]?.data?.metrics }));
  const state = JSON.stringify(told);
  return useMemo(() => {
    const found = new Map<string, { share: number; words: string }>();
    for (const { node, metrics } of told) {
      const progress = metrics && progressOfStep(metrics, valuesOf(ran.graph, node, catalog, ran.parameters ?? {}));
      if (progress) found.set(node, progress);
    }
    return found;
    // `state` stands for `told`, which is made anew at every drawing.
  }, [state, ran.graph, ran.parameters, catalog]);
}
