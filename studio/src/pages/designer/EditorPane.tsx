import type { ReactNode } from "react";
import { Button } from "@/components/Button";
import styles from "./Designer.module.css";
import { titleOf, type Catalog } from "./graph/model";
import type { Problem } from "./graph/problems";
import { NodePane, PaneHead } from "./pane/NodePane";
import { PipelinePane } from "./pane/PipelinePane";
import { GroupPane, SelectionPane } from "./pane/SelectionPane";
import type { Edited } from "./useDraft";

interface Props {
  edited: Edited;
  catalog: Catalog;
  selected: ReadonlySet<string>;
  line: string | null;
  marks: ReadonlyMap<string, readonly Problem[]>;
  isSettings: boolean;
  mayEdit: boolean;
  onGroup: (nodes: readonly string[]) => void;
  onRemove: () => void;
  onCopy: () => void;
  onClose: () => void;
}

const NONE: readonly Problem[] = [];

/** At the right: what is chosen, and what can be set of it. */
export function EditorPane({ edited, catalog, selected, line, marks, isSettings, mayEdit, onGroup, onRemove, onCopy, onClose }: Props) {
  const { graph } = edited;
  const apply = mayEdit ? edited.apply : null;
  const ids = [...selected];
  const only = ids.length === 1 ? (ids[0] as string) : null;
  const node = only === null ? undefined : graph.nodes[only];
  const group = (graph.groups ?? []).find((each) => `group:${each.id}` === only);
  const note = (graph.notes ?? []).find((each) => each.id === only);
  const pane = (title: string, content: ReactNode) => (
    <aside className={styles.pane} aria-label={title} data-testid="designer-pane">
      <PaneHead title={title} onClose={onClose} />
      <div className={styles.paneBody} tabIndex={0} role="region" aria-label={`Settings of ${title}`}>
        {content}
      </div>
    </aside>
  );
  if (node && only !== null) {
    return pane(
      titleOf(node, catalog),
      <>
        <NodePane key={only} graph={graph} id={only} node={node} catalog={catalog} problems={marks.get(only) ?? NONE} apply={apply} />
        {mayEdit && (
          <div className={styles.tools} style={{ marginTop: 24 }}>
            <Button icon="copy" onClick={onCopy}>
              Copy
            </Button>
            <Button icon="trash" variant="danger" onClick={onRemove} data-testid="designer-remove">
              Remove
            </Button>
          </div>
        )}
      </>,
    );
  }
  if (group) return pane(group.title || "Group", <GroupPane key={group.id} group={group} apply={apply} onDone={onClose} />);
  if (note || line !== null) {
    return mayEdit
      ? pane(
          note ? "Note" : "Line",
          <Button icon="trash" variant="danger" onClick={onRemove}>
            Remove
          </Button>,
        )
      : null;
  }
  if (ids.length > 1 && apply) return pane(`${ids.length} chosen`, <SelectionPane graph={graph} ids={ids} apply={apply} onGroup={onGroup} onRemove={onRemove} onCopy={onCopy} />);
  if (isSettings) return pane("Pipeline settings", <PipelinePane graph={graph} apply={apply} />);
  return null;
}
