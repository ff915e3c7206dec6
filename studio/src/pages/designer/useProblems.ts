/** What the keeper finds wrong with the graph, asked a moment after each change that matters (moving nodes about does not). */
import { useEffect, useMemo, useRef, useState } from "react";
import { validate } from "./asks";
import type { Catalog, Graph } from "./graph/model";
import { ownProblems, type Problem } from "./graph/problems";

const PAUSE_MS = 200;
const NONE: Problem[] = [];

export interface Found {
  problems: readonly Problem[];
  /** Whether they are of the graph as it is now. */
  isFresh: boolean;
}

export function useProblems(graph: Graph, catalog: Catalog, isReady: boolean): Found {
  const { nodes, parameters, after, default_compute, environment } = graph;
  // What is listed is all that the answer depends on.
  const matters = useMemo(() => ({ graph }), [nodes, parameters, after, default_compute, environment]);
  const latest = useRef(graph);
  latest.current = graph;
  const [found, setFound] = useState<{ of: object; problems: readonly Problem[] } | null>(null);
  useEffect(() => {
    if (!isReady) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      validate(latest.current, asking.signal).then(
        (problems) => setFound({ of: matters, problems }),
        () => {
          // The keeper is away: what can be seen from here is better than nothing.
          if (!asking.signal.aborted) setFound({ of: matters, problems: ownProblems(latest.current, catalog) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [matters, catalog, isReady]);
  return { problems: found?.problems ?? NONE, isFresh: found?.of === matters };
}
