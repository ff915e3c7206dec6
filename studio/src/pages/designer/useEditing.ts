/** What hands do on the canvas: choose, add, remove, copy and paste, lay out. The graph itself is useDraft's. */
import { useReactFlow } from "@xyflow/react";
import { useCallback, useState } from "react";
import { useSearch } from "@/router/location";
import { fitted } from "./canvas/motion";
import { copy, paste } from "./graph/clipboard";
import * as edit from "./graph/edit";
import { autoLayout, freePlace, NODE_WIDTH } from "./graph/layout";
import type { Catalog, Graph, Place } from "./graph/model";
import type { Edited } from "./useDraft";
import { stored } from "./useKeys";

const GRID = 8;
export const onGrid = (value: number) => Math.round(value / GRID) * GRID;

export function useEditing({ graph, apply }: Edited, catalog: Catalog) {
  const flow = useReactFlow();
  const [search, change] = useSearch();
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(search.get("node") ? [search.get("node") as string] : []));
  const [line, setLine] = useState<string | null>(null);
  const [jump, setJump] = useState(0);

  /** One that is chosen alone is in the address. */
  const choose = useCallback(
    (ids: ReadonlySet<string>) => {
      setSelected(ids);
      if (ids.size > 0) setLine(null);
      const only = ids.size === 1 ? [...ids][0] : null;
      change({ node: only && !only.startsWith("group:") ? only : null });
    },
    [change],
  );
  const clear = useCallback(() => {
    choose(new Set());
    setLine(null);
  }, [choose]);
  const go = useCallback(
    (id: string) => {
      choose(new Set([id]));
      setJump((count) => count + 1);
    },
    [choose],
  );
  /** Near the middle of what is seen. */
  const middle = useCallback((): Place => {
    const box = document.querySelector('[data-testid="designer-canvas"]')?.getBoundingClientRect();
    const at = flow.screenToFlowPosition({ x: (box?.left ?? 0) + (box?.width ?? 0) / 2, y: (box?.top ?? 0) + (box?.height ?? 0) / 3 });
    return { x: onGrid(at.x) - NODE_WIDTH / 2, y: onGrid(at.y) };
  }, [flow]);
  /** `module:split`, `data:birds`, `model:net`; without a place where there is room. */
  const add = useCallback(
    (what: string, at: Place | null) => {
      const [kind, name] = [what.slice(0, what.indexOf(":")), what.slice(what.indexOf(":") + 1)];
      const card = catalog.get(name);
      if (kind === "module" && !card) return;
      const make = (now: Graph, place: Place) => (kind === "data" ? edit.addData(now, name, place) : kind === "model" ? edit.addModel(now, name, place) : edit.addModule(now, card as NonNullable<typeof card>, place));
      const place = at ?? freePlace(graph, middle());
      const { id } = make(graph, place); // the name it will get
      apply((now) => make(now, place).graph);
      choose(new Set([id]));
    },
    [catalog, graph, apply, choose, middle],
  );
  /** What is made is chosen: its name can be typed at once, and it is brought into sight. */
  const group = (ids: readonly string[]) => {
    const made = edit.group(graph, ids).groups?.at(-1);
    if (!made) return;
    apply((now) => edit.group(now, ids));
    choose(new Set([`group:${made.id}`]));
  };
  const remove = () => {
    if (line !== null) {
      const at = line.lastIndexOf(":");
      const isOrder = line.startsWith("after:");
      apply((now) => (isOrder ? { ...now, after: (now.after ?? []).filter(([a, b]) => `after:${a}:${b}` !== line) } : edit.disconnect(now, { node: line.slice(0, at), port: line.slice(at + 1) })));
      setLine(null);
      return;
    }
    const groups = (graph.groups ?? []).filter((group) => selected.has(`group:${group.id}`));
    const ids = new Set([...selected, ...groups.flatMap((group) => group.nodes)]);
    if (ids.size === 0) return;
    apply((now) => edit.remove(now, ids));
    choose(new Set());
  };
  /** False: the text is nothing of a pipeline. Empty: what was copied last. */
  const pasteText = (text: string): boolean => {
    const made = paste(graph, text) ?? (text === "" ? paste(graph, stored() ?? "") : null);
    if (!made) return false;
    apply(() => made.graph);
    choose(new Set(made.ids));
    return true;
  };
  const layout = () => {
    apply((now) => edit.move(now, autoLayout(now, catalog)));
    setTimeout(() => void flow.fitView(fitted()), 50);
  };
  const note = () => {
    const place = freePlace(graph, middle());
    apply((now) => edit.addNote(now, place).graph);
  };
  return {
    selected, choose, clear, line, setLine, go, jump, add, group, remove, pasteText, layout, note,
    copied: () => (selected.size > 0 ? copy(graph, selected) : null),
    fit: () => void flow.fitView(fitted()),
  };
}
