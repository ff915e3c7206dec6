import type { ReactNode } from "react";
import { Button, IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Menu, Popup, type MenuItem } from "@/components/Menu";
import { useIsNarrow } from "@/components/useIsNarrow";
import styles from "./Designer.module.css";
import type { Problem } from "./graph/problems";
import { ProblemList } from "./ProblemList";
import type { Edited, Saving } from "./useDraft";

interface Props {
  edited: Edited;
  mayEdit: boolean;
  problems: readonly Problem[];
  isPaletteOpen: boolean;
  onPalette: () => void;
  onSettings: () => void;
  onGo: (node: string) => void;
  onLayout: () => void;
  onNote: () => void;
  onSubmit: () => void;
  /** The search on the canvas. */
  find: ReactNode;
  more: MenuItem[];
}

/** Above the canvas: the draft's name, whether it is saved, and what is done most. */
export function Toolbar({ edited, mayEdit, problems, isPaletteOpen, onPalette, onSettings, onGo, onLayout, onNote, onSubmit, find, more }: Props) {
  const isNarrow = useIsNarrow();
  const rare: MenuItem[] = [
    { label: "Redo", icon: "redo", run: edited.redo, isDisabled: !mayEdit || !edited.canRedo },
    { label: "Add a note", icon: "note", run: onNote, isDisabled: !mayEdit },
    { label: "Lay it out", icon: "layout", run: onLayout, isDisabled: !mayEdit },
    { label: "Pipeline settings", icon: "settings", run: onSettings },
  ];
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Designer">
      {mayEdit && <IconButton icon="plus" label={isPaletteOpen ? "Hide the palette" : "Show the palette"} aria-pressed={isPaletteOpen} onClick={onPalette} data-testid="designer-palette-toggle" />}
      <h1 className="unseen">{edited.graph.name}</h1>
      <input
        className={styles.name}
        aria-label="Name of the pipeline"
        value={edited.graph.name}
        disabled={!mayEdit}
        onChange={(event) => edited.apply((now) => ({ ...now, name: event.target.value }), "pipeline:name")}
        data-testid="designer-name"
      />
      {mayEdit && <SavingState saving={edited.saving} />}
      <span className={styles.gap} />
      {mayEdit && (
        <>
          <IconButton icon="undo" label="Undo" disabled={!edited.canUndo} onClick={edited.undo} data-testid="designer-undo" />
          {!isNarrow && <IconButton icon="redo" label="Redo" disabled={!edited.canRedo} onClick={edited.redo} data-testid="designer-redo" />}
        </>
      )}
      {!isNarrow && mayEdit && (
        <>
          <span className={styles.divider} />
          <IconButton icon="note" label="Add a note" onClick={onNote} />
          <IconButton icon="layout" label="Lay it out" onClick={onLayout} data-testid="designer-layout" />
        </>
      )}
      {!isNarrow && find}
      {!isNarrow && <IconButton icon="settings" label="Pipeline settings" onClick={onSettings} data-testid="designer-settings-open" />}
      {problems.length > 0 && (
        <Popup label={`${problems.length} to mend`} icon="warning" testId="designer-problems-open">
          {(close) => (
            <ProblemList
              problems={problems}
              onGo={(node) => {
                close();
                onGo(node);
              }}
            />
          )}
        </Popup>
      )}
      <Menu label="More" isIconOnly items={isNarrow ? [...rare, ...more] : more} />
      {mayEdit && (
        <Button variant="primary" icon="play" onClick={onSubmit} data-testid="designer-submit">
          Submit
        </Button>
      )}
    </div>
  );
}

const WORDS: Record<Saving["state"], string> = { saved: "Saved", waiting: "Changed", saving: "Saving", conflict: "Not saved", failed: "Not saved" };

function SavingState({ saving }: { saving: Saving }) {
  return (
    <span className={styles.saved} role="status" data-testid="designer-saved" data-state={saving.state} title={"error" in saving ? saving.error.message : undefined}>
      <Icon name={saving.state === "saved" ? "check" : "error" in saving ? "warning" : "waiting"} size={14} />
      <span>{WORDS[saving.state]}</span>
    </span>
  );
}
