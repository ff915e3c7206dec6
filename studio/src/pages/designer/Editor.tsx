import { useReactFlow } from "@xyflow/react";
import { useCallback, useMemo, useState } from "react";
import { useMay } from "@/api/session";
import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { toast, toastError } from "@/components/toasts";
import { useIsNarrow } from "@/components/useIsNarrow";
import { readDrop, type Chosen } from "@/pages/data/dropped";
import { navigate, useSearch } from "@/router/location";
import { useTitle } from "@/router/title";
import { createDraft, useCatalog, type Draft } from "./asks";
import { Canvas, type CanvasEdits } from "./canvas/Canvas";
import { CanvasTools, KeepInSight } from "./canvas/CanvasTools";
import { fitted, motionMs } from "./canvas/motion";
import type { Shown } from "./canvas/toFlow";
import styles from "./Designer.module.css";
import { CodeDialog, KeysDialog } from "./dialogs";
import { DropUpload } from "./DropUpload";
import { EditorPane } from "./EditorPane";
import { FindOnCanvas } from "./FindOnCanvas";
import { copy, paste } from "./graph/clipboard";
import * as edit from "./graph/edit";
import { autoLayout, freePlace } from "./graph/layout";
import type { Graph, Place } from "./graph/model";
import { byNode } from "./graph/problems";
import { findNodes } from "./graph/search";
import { Palette } from "./Palette";
import { PublishDialog } from "./PublishDialog";
import { SubmitDialog } from "./SubmitDialog";
import { Toolbar } from "./Toolbar";
import { useDraft } from "./useDraft";
import { store, stored, useKeys } from "./useKeys";
import { useProblems } from "./useProblems";
import { useRefusal } from "./useRefusal";

const NO_PROGRESS = new Map<string, { share: number; words: string }>();
type Open = "submit" | "code" | "keys" | "publish" | "settings" | null;

/** The designer at work: palette, canvas, pane. */
export function Editor({ draft }: { draft: Draft }) {
  const edited = useDraft(draft);
  const { graph, apply } = edited;
  const mayEdit = useMay("contributor");
  const flow = useReactFlow();
  const isNarrow = useIsNarrow();
  const { asked, catalog } = useCatalog();
  const [search, change] = useSearch();
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(search.get("node") ? [search.get("node") as string] : []));
  const [line, setLine] = useState<string | null>(null);
  const [isPaletteOpen, setPaletteOpen] = useState(!isNarrow);
  const [open, setOpen] = useState<Open>(null);
  const [wanted, setWanted] = useState("");
  const [dropped, setDropped] = useState<{ reading: Promise<Chosen>; at: Place } | null>(null);
  const refusal = useRefusal();
  const { problems } = useProblems(graph, catalog, asked.data !== undefined);
  const marks = useMemo(() => byNode(problems), [problems]);
  const found = useMemo(() => findNodes(graph, catalog, wanted), [graph, catalog, wanted]);
  const only = selected.size === 1 ? ([...selected][0] as string) : null;
  useTitle(graph.name);

  const choose = useCallback(
    (ids: ReadonlySet<string>) => {
      setSelected(ids);
      if (ids.size > 0) setLine(null);
      const only = ids.size === 1 ? [...ids][0] : null;
      change({ node: only && !only.startsWith("group:") ? only : null });
    },
    [change],
  );
  const go = useCallback(
    (id: string) => {
      choose(new Set([id]));
      setOpen(null);
      void flow.fitView({ nodes: [{ id }], maxZoom: 1, duration: motionMs() });
    },
    [choose, flow],
  );
  /** In the middle of what is seen. */
  const middle = useCallback((): Place => {
    const box = document.querySelector('[data-testid="designer-canvas"]')?.getBoundingClientRect();
    const at = flow.screenToFlowPosition({ x: (box?.left ?? 0) + (box?.width ?? 0) / 2, y: (box?.top ?? 0) + (box?.height ?? 0) / 3 });
    return { x: Math.round(at.x / 8) * 8 - 128, y: Math.round(at.y / 8) * 8 };
  }, [flow]);
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
      if (isNarrow) setPaletteOpen(false);
    },
    [catalog, graph, apply, choose, middle, isNarrow],
  );
  const remove = () => {
    if (line !== null) {
      const at = line.lastIndexOf(":");
      apply((now) => (line.startsWith("after:") ? { ...now, after: (now.after ?? []).filter(([a, b]) => `after:${a}:${b}` !== line) } : edit.disconnect(now, { node: line.slice(0, at), port: line.slice(at + 1) })));
      setLine(null);
      return;
    }
    const groups = (graph.groups ?? []).filter((group) => selected.has(`group:${group.id}`));
    const ids = new Set([...selected, ...groups.flatMap((group) => group.nodes)]);
    if (ids.size === 0) return;
    apply((now) => edit.remove(now, ids));
    choose(new Set());
  };
  const pasteText = (text: string): boolean => {
    const made = paste(graph, text) ?? (text === "" ? paste(graph, stored() ?? "") : null);
    if (!made) return false;
    apply(() => made.graph);
    choose(new Set(made.ids));
    return true;
  };
  const copied = () => (selected.size > 0 ? copy(graph, selected) : null);
  const layout = () => {
    apply((now) => edit.move(now, autoLayout(now, catalog)));
    setTimeout(() => void flow.fitView(fitted()), 50);
  };
  const note = () => {
    const place = freePlace(graph, middle());
    apply((now) => edit.addNote(now, place).graph);
  };
  const keysOff = () => undefined;
  useKeys({
    undo: mayEdit ? edited.undo : keysOff,
    redo: mayEdit ? edited.redo : keysOff,
    remove: mayEdit ? remove : keysOff,
    selectAll: () => choose(new Set(Object.keys(graph.nodes))),
    duplicate: mayEdit ? () => pasteText(copied() ?? "") : keysOff,
    layout: mayEdit ? layout : keysOff,
    fit: () => void flow.fitView(fitted()),
    note: mayEdit ? note : keysOff,
    find: () => document.querySelector<HTMLElement>('[data-testid="designer-find"]')?.focus(),
    help: () => setOpen("keys"),
    clear: () => {
      choose(new Set());
      setLine(null);
    },
    copied,
    paste: (text) => mayEdit && pasteText(text),
  });

  const shown: Shown = useMemo(() => ({ graph, catalog, problems: marks, steps: null, progress: NO_PROGRESS, found: new Set(found), refused: refusal.node, isReadOnly: !mayEdit }), [graph, catalog, marks, found, refusal.node, mayEdit]);
  const edits: CanvasEdits | null = useMemo(
    () =>
      mayEdit
        ? {
            move: (places) => apply((now) => edit.move(now, places)),
            connect: (source, target) => {
              refusal.clear();
              apply((now) => edit.connect(now, source, target));
            },
            refuse: refusal.say,
            dropModule: (name, at) => add(name, { x: Math.round(at.x / 8) * 8, y: Math.round(at.y / 8) * 8 }),
            dropFiles: (data, at) => setDropped({ reading: readDrop(data), at }),
            acts: {
              writeNote: (id, text) => apply((now) => edit.patchNote(now, id, { text }), `note:${id}`),
              resizeNote: (id, box) => apply((now) => edit.patchNote(now, id, { x: Math.round(box.x), y: Math.round(box.y), width: Math.round(box.width), height: Math.round(box.height) })),
              toggleGroup: (id) => apply((now) => edit.patchGroup(now, id, { collapsed: !(now.groups ?? []).find((group) => group.id === id)?.collapsed })),
            },
          }
        : null,
    [mayEdit, apply, add, refusal.say, refusal.clear],
  );
  const closeDrop = useCallback(() => setDropped(null), []);
  const duplicateDraft = () => {
    createDraft({ ...graph, name: `${graph.name} (copy)` }).then((made) => navigate(`/designer/drafts/${encodeURIComponent(made.id)}`), toastError);
  };
  const isEmpty = Object.keys(graph.nodes).length === 0;
  return (
    <div className={styles.page} data-testid="designer">
      <Toolbar
        edited={edited}
        mayEdit={mayEdit}
        problems={isEmpty ? [] : problems}
        isPaletteOpen={isPaletteOpen}
        onPalette={() => setPaletteOpen(!isPaletteOpen)}
        onSettings={() => {
          choose(new Set());
          setOpen(open === "settings" ? null : "settings");
        }}
        onGo={go}
        onLayout={layout}
        onNote={note}
        onSubmit={() => setOpen("submit")}
        find={<FindOnCanvas found={found.length} onText={setWanted} onNext={() => found.length > 0 && go(found[(found.indexOf([...selected][0] ?? "") + 1) % found.length] as string)} />}
        more={[
          { label: "As Python or YAML", icon: "code", run: () => setOpen("code") },
          ...(mayEdit
            ? [
                { label: "Copy", icon: "copy" as const, isDisabled: selected.size === 0, run: () => store(copied() ?? "") },
                { label: "Paste", icon: "copy" as const, run: () => !pasteText("") && toast("Nothing of a pipeline was copied", "info") },
                { label: "Publish", icon: "endpoint" as const, run: () => setOpen("publish") },
                { label: "Duplicate this draft", icon: "copy" as const, run: duplicateDraft },
              ]
            : []),
          ...(draft.last_run_id ? [{ label: "Its last run", icon: "runs" as const, run: () => navigate(`/designer/runs/${encodeURIComponent(draft.last_run_id as string)}`) }] : []),
          { label: "Keys", icon: "keyboard", run: () => setOpen("keys") },
        ]}
      />
      {edited.saving.state === "conflict" && (
        <div className={styles.banner} role="alert" data-testid="designer-conflict">
          <p>Somebody else has saved this draft meanwhile. What you changed since is not saved.</p>
          <Button onClick={() => void edited.takeTheirs().catch(toastError)}>Take theirs</Button>
          <Button onClick={duplicateDraft}>Keep mine as a copy</Button>
          <Button variant="danger" onClick={() => void edited.keepMine().catch(toastError)}>
            Save mine over theirs
          </Button>
        </div>
      )}
      <div className={styles.body}>
        {mayEdit && isPaletteOpen && <Palette onAdd={(what) => add(what, null)} onClose={() => setPaletteOpen(false)} />}
        {asked.isPending ? (
          <Skeleton lines={6} />
        ) : (
          <Canvas shown={shown} selected={selected} onSelect={choose} line={line} onLine={setLine} edits={edits}>
            <CanvasTools />
            <KeepInSight id={only} />
          </Canvas>
        )}
        {isEmpty && <FirstSteps />}
        {refusal.sentence && (
          <div className={styles.problems}>
            <div className={styles.refused} role="alert" data-testid="designer-refused">
              <Icon name="failed" />
              <p>{refusal.sentence}</p>
              <IconButton icon="close" label="Close" onClick={refusal.clear} />
            </div>
          </div>
        )}
        <EditorPane
          edited={edited}
          catalog={catalog}
          selected={selected}
          line={line}
          marks={marks}
          isSettings={open === "settings"}
          mayEdit={mayEdit}
          onRemove={remove}
          onCopy={() => store(copied() ?? "")}
          onClose={() => {
            choose(new Set());
            setLine(null);
            setOpen(null);
          }}
        />
      </div>
      {open === "submit" && <SubmitDialog graph={graph} draft={draft.id} onBefore={edited.flush} onGo={go} onClose={() => setOpen(null)} onDone={(run) => navigate(`/designer/runs/${encodeURIComponent(run)}`)} />}
      {open === "publish" && <PublishDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "code" && <CodeDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "keys" && <KeysDialog onClose={() => setOpen(null)} />}
      {dropped && <DropUpload reading={dropped.reading} onClose={closeDrop} onDone={(name) => add(`data:${name}`, dropped.at)} />}
    </div>
  );
}

function FirstSteps() {
  return (
    <div className={styles.empty}>
      <div>
        <h2>An empty canvas</h2>
        <p>Drag modules here from the palette, or click them. Draw a line from the foot of one to the head of the next. Drop a folder of pictures here, and it becomes a data set.</p>
      </div>
    </div>
  );
}

