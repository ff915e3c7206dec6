import { Handle, NodeResizer, Position, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { IconButton } from "@/components/Button";
import { classes } from "@/components/classes";
import { Icon } from "@/components/Icon";
import { StatusPill } from "@/components/StatusPill";
import styles from "./Canvas.module.css";
import type { GroupNode, NoteNode } from "./toFlow";

/** What a note or a group can ask for; null where nothing may be changed. */
export interface CanvasActs {
  writeNote: (id: string, text: string) => void;
  resizeNote: (id: string, box: { x: number; y: number; width: number; height: number }) => void;
  toggleGroup: (id: string) => void;
}
export const ActsContext = createContext<CanvasActs | null>(null);

/** Words on the canvas. */
export const NoteView = memo(function NoteView({ data, selected }: NodeProps<NoteNode>) {
  const acts = useContext(ActsContext);
  const { note } = data;
  return (
    <div className={classes(styles.note, selected && styles.selected)} data-testid="designer-note">
      {selected && !data.isReadOnly && <NodeResizer minWidth={120} minHeight={56} onResizeEnd={(_, box) => acts?.resizeNote(note.id, box)} />}
      <textarea
        className="nodrag nowheel"
        aria-label="Note"
        placeholder="Write a note"
        value={note.text}
        readOnly={data.isReadOnly || !acts}
        onChange={(event) => acts?.writeNote(note.id, event.target.value)}
      />
    </div>
  );
});

/** The frame around an open group. */
export const FrameView = memo(function FrameView({ data, selected }: NodeProps<GroupNode>) {
  const acts = useContext(ActsContext);
  return (
    <div className={classes(styles.frame, selected && styles.selected)} data-testid="designer-group">
      <header>
        {/* Before the name: where a frame is larger than the canvas, it is its beginning that is kept in sight. */}
        {acts && <IconButton className="nodrag" icon="up" label={`Close the group ${data.group.title}`} onClick={() => acts.toggleGroup(data.group.id)} />}
        <strong>{data.group.title}</strong>
      </header>
    </div>
  );
});

/** A closed group: one box in place of its modules. */
export const BoxView = memo(function BoxView({ data, selected }: NodeProps<GroupNode>) {
  const acts = useContext(ActsContext);
  return (
    <div className={classes(styles.node, styles.box, selected && styles.selected, data.hasProblem && styles.warn)} data-testid="designer-group">
      <Handle id="in" type="target" position={Position.Top} isConnectable={false} className={styles.order} />
      <div className={styles.title} data-title={data.group.title}>
        <span className={styles.icon}>
          <Icon name="environment" />
        </span>
        <span className={styles.words}>
          <strong>{data.group.title}</strong>
          <small>{data.count} modules</small>
        </span>
        {acts && <IconButton className="nodrag" icon="down" label={`Open the group ${data.group.title}`} onClick={() => acts.toggleGroup(data.group.id)} />}
      </div>
      {data.status && (
        <div className={styles.state}>
          <StatusPill status={data.status} />
        </div>
      )}
      <Handle id="out" type="source" position={Position.Bottom} isConnectable={false} className={styles.order} />
    </div>
  );
});
