import { Button } from "@/components/Button";
import { Field, Input } from "@/components/Field";
import { plural } from "@/components/format";
import styles from "../Designer.module.css";
import * as edit from "../graph/edit";
import { align, type Alignment } from "../graph/layout";
import type { Graph, Group } from "../graph/model";

interface Props {
  graph: Graph;
  ids: readonly string[];
  apply: (make: (graph: Graph) => Graph, about?: string) => void;
  onGroup: (nodes: readonly string[]) => void;
  onRemove: () => void;
  onCopy: () => void;
}

const ALIGNMENTS: [Alignment, string][] = [
  ["left", "Align left"],
  ["center", "Align centres"],
  ["top", "Align tops"],
  ["row", "In a row"],
  ["column", "In a column"],
];

/** Several at once: align, group, copy, remove. */
export function SelectionPane({ graph, ids, apply, onGroup, onRemove, onCopy }: Props) {
  const nodes = ids.filter((id) => graph.nodes[id]);
  return (
    <>
      <p className={styles.about}>{plural(nodes.length, "module")} chosen. Drag one of them to move all.</p>
      <h3 className={styles.section}>Place</h3>
      <div className={styles.tools}>
        {ALIGNMENTS.map(([how, label]) => (
          <Button key={how} disabled={nodes.length < 2} onClick={() => apply((now) => edit.move(now, align(now, nodes, how)))}>
            {label}
          </Button>
        ))}
      </div>
      <h3 className={styles.section}>Do</h3>
      <div className={styles.tools}>
        <Button icon="environment" disabled={nodes.length === 0} onClick={() => onGroup(nodes)} data-testid="designer-group-make">
          Group
        </Button>
        <Button icon="copy" onClick={onCopy}>
          Copy
        </Button>
        <Button icon="trash" variant="danger" onClick={onRemove}>
          Remove
        </Button>
      </div>
    </>
  );
}

/** One group: its name, open or closed, and apart again. */
export function GroupPane({ group, apply, onDone }: { group: Group; apply: Props["apply"] | null; onDone: () => void }) {
  return (
    <div className={styles.form}>
      <Field label="Name of the group">{(ids) => <Input {...ids} value={group.title} disabled={!apply} onChange={(event) => apply?.((now) => edit.patchGroup(now, group.id, { title: event.target.value }), `group:${group.id}`)} />}</Field>
      {apply && (
        <div className={styles.tools}>
          <Button icon={group.collapsed ? "down" : "up"} onClick={() => apply((now) => edit.patchGroup(now, group.id, { collapsed: !group.collapsed }))}>
            {group.collapsed ? "Open it" : "Close it"}
          </Button>
          <Button
            onClick={() => {
              apply((now) => edit.ungroup(now, group.id));
              onDone();
            }}
          >
            Take it apart
          </Button>
        </div>
      )}
    </div>
  );
}
