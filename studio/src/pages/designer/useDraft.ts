/** A draft in the hand: its graph with undo and redo, saved by itself a moment after each change. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import { toApiError, type ApiError } from "@/api/errors";
import { draftKeys, getDraft, saveDraft, type Draft } from "./asks";
import { begin, change, redo, undo, type History } from "./graph/history";
import type { Catalog, Graph } from "./graph/model";
import { settle } from "./graph/settle";

const PAUSE_MS = 700;
const AGAIN_MS = 4000;

export type Saving = { state: "saved" | "waiting" | "saving" } | { state: "conflict" | "failed"; error: ApiError };

export interface Edited {
  graph: Graph;
  /** Changes with the same `about` in a row are one step of undo. */
  apply: (make: (graph: Graph) => Graph, about?: string) => void;
  undo: () => void;
  redo: () => void;
  canUndo: boolean;
  canRedo: boolean;
  saving: Saving;
  revision: number;
  /** After a conflict: theirs, or ours over theirs. */
  takeTheirs: () => Promise<void>;
  keepMine: () => Promise<void>;
  /** Saved now, before something that needs it. */
  flush: () => Promise<void>;
}

type Act = { do: "apply"; make: (graph: Graph) => Graph; about?: string } | { do: "undo" } | { do: "redo" } | { do: "reset"; graph: Graph };

function reduce(history: History<Graph>, act: Act): History<Graph> {
  switch (act.do) {
    case "apply":
      return change(history, act.make(history.now), act.about ?? null);
    case "undo":
      return undo(history);
    case "redo":
      return redo(history);
    case "reset":
      return begin(act.graph);
  }
}

/** What lies nowhere yet is laid out when it is opened; that alone is nothing to save, and nothing to undo. */
export function useDraft(draft: Draft, catalog: Catalog): Edited {
  const client = useQueryClient();
  const [history, act] = useReducer(reduce, draft.graph, (graph) => begin(settle(graph, catalog)));
  const [saving, setSaving] = useState<Saving>({ state: "saved" });
  const latest = useRef(history.now);
  latest.current = history.now;
  const stored = useRef({ graph: history.now, revision: draft.revision });
  const under = useRef<Promise<void> | null>(null);
  const stopped = useRef(false); // by a conflict, until somebody decides

  const flush = useCallback(async (): Promise<void> => {
    while (under.current) await under.current;
    if (stored.current.graph === latest.current || stopped.current) return;
    const graph = latest.current;
    setSaving({ state: "saving" });
    const doing = saveDraft(draft.id, graph, stored.current.revision).then(
      (saved) => {
        stored.current = { graph, revision: saved.revision };
        client.setQueryData(draftKeys.one(draft.id), { ...saved, graph });
        void client.invalidateQueries({ queryKey: draftKeys.all, exact: true });
        setSaving({ state: latest.current === graph ? "saved" : "waiting" });
      },
      (error: unknown) => {
        const told = toApiError(error);
        stopped.current = told.status === 409;
        setSaving({ state: told.status === 409 ? "conflict" : "failed", error: told });
      },
    );
    under.current = doing;
    await doing;
    under.current = null;
  }, [client, draft.id]);

  const isDirty = history.now !== stored.current.graph;
  const hasFailed = saving.state === "failed";
  useEffect(() => {
    if (!isDirty || stopped.current) return;
    const timer = setTimeout(() => void flush(), hasFailed ? AGAIN_MS : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [history.now, isDirty, hasFailed, saving, flush]);

  // Leaving for another page of ours saves at once; leaving the studio with something unsaved asks first.
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (stored.current.graph !== latest.current) event.preventDefault();
    };
    window.addEventListener("beforeunload", leave);
    return () => {
      window.removeEventListener("beforeunload", leave);
      void flush();
    };
  }, [flush]);

  const takeTheirs = useCallback(async () => {
    const theirs = await getDraft(draft.id);
    const graph = settle(theirs.graph, catalog);
    stored.current = { graph, revision: theirs.revision };
    stopped.current = false;
    act({ do: "reset", graph });
    setSaving({ state: "saved" });
  }, [draft.id, catalog]);

  const keepMine = useCallback(async () => {
    const theirs = await getDraft(draft.id);
    stored.current = { graph: theirs.graph, revision: theirs.revision };
    stopped.current = false;
    await flush();
  }, [draft.id, flush]);

  const apply = useCallback((make: (graph: Graph) => Graph, about?: string) => act({ do: "apply", make, about }), []);
  return useMemo(
    () => ({
      graph: history.now,
      apply,
      undo: () => act({ do: "undo" }),
      redo: () => act({ do: "redo" }),
      canUndo: history.past.length > 0,
      canRedo: history.future.length > 0,
      saving: isDirty && saving.state === "saved" ? { state: "waiting" } : saving,
      revision: stored.current.revision,
      takeTheirs,
      keepMine,
      flush,
    }),
    [history, apply, isDirty, saving, takeTheirs, keepMine, flush],
  );
}
