import { useCallback, useMemo, useState, type DragEvent } from "react";
import { useMay } from "@/api/session";
import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { toast, toastError } from "@/components/toasts";
import { useIsNarrow } from "@/components/useIsNarrow";
import { readDrop, type Chosen } from "@/pages/data/dropped";
import { navigate } from "@/router/location";
import { useTitle } from "@/router/title";
import { duplicate, useCatalog, type Draft } from "./asks";
import { Canvas, type CanvasEdits } from "./canvas/Canvas";
import { CanvasTools, KeepInSight } from "./canvas/CanvasTools";
import type { Shown } from "./canvas/toFlow";
import styles from "./Designer.module.css";
import { CodeDialog, KeysDialog } from "./dialogs";
import { DeployDialog } from "./DeployDialog";
import { DropUpload } from "./DropUpload";
import { EditorPane } from "./EditorPane";
import { FindOnCanvas } from "./FindOnCanvas";
import * as edit from "./graph/edit";
import type { Place } from "./graph/model";
import { canServe } from "./graph/outputs";
import { byNode } from "./graph/problems";
import { findNodes } from "./graph/search";
import { Palette } from "./Palette";
import { PublishDialog } from "./PublishDialog";
import { SubmitDialog } from "./SubmitDialog";
import { Toolbar } from "./Toolbar";
import { useDraft } from "./useDraft";
import { onGrid, useEditing } from "./useEditing";
import { store, useKeys } from "./useKeys";
import { useProblems } from "./useProblems";
import { useRefusal } from "./useRefusal";

const NO_PROGRESS = new Map<string, { share: number; words: string }>();
type Open = "submit" | "code" | "keys" | "publish" | "deploy" | "settings" | null;

/** The designer at work: palette, canvas, pane. */
export function Editor({ draft }: { draft: Draft }) {
  const { asked, catalog } = useCatalog();
  const edited = useDraft(draft, catalog);
  const { graph, apply } = edited;
  const mayEdit = useMay("contributor");
  const isNarrow = useIsNarrow();
  const hands = useEditing(edited, catalog);
  const { selected, choose, line, add, remove, pasteText, copied } = hands;
  const [isPaletteOpen, setPaletteOpen] = useState(() => !matchMedia("(max-width: 1000px)").matches); // there it lies over the canvas
  const [open, setOpen] = useState<Open>(null);
  const [wanted, setWanted] = useState("");
  const [dropped, setDropped] = useState<{ reading: Promise<Chosen>; at: Place } | null>(null);
  const refusal = useRefusal();
  const { problems } = useProblems(graph, catalog, asked.data !== undefined);
  const marks = useMemo(() => byNode(problems), [problems]);
  const found = useMemo(() => findNodes(graph, catalog, wanted), [graph, catalog, wanted]);
  const only = selected.size === 1 ? ([...selected][0] as string) : null;
  useTitle(graph.name);

  const go = (id: string) => {
    setOpen(null);
    hands.go(id);
  };
  const keysOff = () => undefined;
  useKeys({
    undo: mayEdit ? edited.undo : keysOff,
    redo: mayEdit ? edited.redo : keysOff,
    remove: mayEdit ? remove : keysOff,
    selectAll: () => choose(new Set(Object.keys(graph.nodes))),
    duplicate: mayEdit ? () => pasteText(copied() ?? "") : keysOff,
    layout: mayEdit ? hands.layout : keysOff,
    fit: hands.fit,
    note: mayEdit ? hands.note : keysOff,
    find: () => document.querySelector<HTMLElement>('[data-testid="designer-find"]')?.focus(),
    help: () => setOpen("keys"),
    clear: hands.clear,
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
            dropModule: (name, at) => add(name, { x: onGrid(at.x), y: onGrid(at.y) }),
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
  const addByClick = (what: string) => {
    add(what, null);
    if (isNarrow) setPaletteOpen(false); // it would cover what was added
  };
  const closeDrop = useCallback(() => setDropped(null), []);
  const duplicateDraft = () => {
    duplicate(graph).then((made) => navigate(`/designer/drafts/${encodeURIComponent(made.id)}`), toastError);
  };
  const isEmpty = Object.keys(graph.nodes).length === 0;
  return (
    <div className={styles.page} data-testid="designer" onDragOver={refuseStray}>
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
        onLayout={hands.layout}
        onNote={hands.note}
        onSubmit={() => setOpen("submit")}
        find={<FindOnCanvas found={found.length} onText={setWanted} onNext={() => found.length > 0 && go(found[(found.indexOf([...selected][0] ?? "") + 1) % found.length] as string)} />}
        more={[
          { label: "As Python or YAML", icon: "code", run: () => setOpen("code") },
          ...(mayEdit
            ? [
                { label: "Copy", icon: "copy" as const, isDisabled: selected.size === 0, run: () => store(copied() ?? "") },
                { label: "Paste", icon: "copy" as const, run: () => !pasteText("") && toast("Nothing of a pipeline was copied", "info") },
                ...(canServe(graph, false) ? [{ label: "Deploy as an endpoint", icon: "endpoint" as const, isDisabled: problems.length > 0, run: () => setOpen("deploy") }] : []),
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
        {mayEdit && isPaletteOpen && <Palette onAdd={addByClick} onClose={() => setPaletteOpen(false)} />}
        <Canvas shown={shown} selected={selected} onSelect={choose} line={line} onLine={hands.setLine} edits={edits}>
          <CanvasTools />
          <KeepInSight id={only} jump={hands.jump} />
          {isEmpty && <FirstSteps />}
        </Canvas>
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
          onGroup={hands.group}
          onRemove={remove}
          onCopy={() => store(copied() ?? "")}
          onClose={() => {
            hands.clear();
            setOpen(null);
          }}
        />
      </div>
      {open === "submit" && <SubmitDialog graph={graph} draft={draft.id} onBefore={edited.flush} onGo={go} onClose={() => setOpen(null)} onDone={(run) => navigate(`/designer/runs/${encodeURIComponent(run)}`)} />}
      {open === "publish" && <PublishDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "deploy" && <DeployDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "code" && <CodeDialog graph={graph} onClose={() => setOpen(null)} />}
      {open === "keys" && <KeysDialog onClose={() => setOpen(null)} />}
      {dropped && <DropUpload reading={dropped.reading} onClose={closeDrop} onDone={(name) => add(`data:${name}`, dropped.at)} />}
    </div>
  );
}

/** Files that miss the canvas are not taken; without this the browser would leave the page for them. */
function refuseStray(event: DragEvent) {
  if (event.defaultPrevented || !event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
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

