import "@xyflow/react/dist/base.css";
import {
  applyNodeChanges, MiniMap, ReactFlow, useReactFlow, useStore, useStoreApi, type Connection, type Edge, type EdgeChange, type NodeChange, type OnConnectEnd, type OnConnectStart,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type DragEvent, type ReactNode } from "react";
import { classes } from "@/components/classes";
import type { Place, Source } from "../graph/model";
import { portsOf, whyRefused, type Wanted } from "../graph/ports";
import styles from "./Canvas.module.css";
import type { View } from "./carry";
import { Dots } from "./Dots";
import { FIT_PADDING } from "./motion";
import { ActsContext, BoxView, FrameView, NoteView, type CanvasActs } from "./OtherNodes";
import type { Box } from "./sight";
import { StepNodeView, TargetsContext } from "./StepNodeView";
import { toEdges, toNodes, type CanvasNode, type Shown } from "./toFlow";
import { useCarry } from "./useCarry";

const NODE_TYPES = { step: StepNodeView, note: NoteView, frame: FrameView, box: BoxView };
const GRID: [number, number] = [8, 8];
/** What a palette's item carries while it is dragged. */
export const DRAG_TYPE = "application/x-rookery-module";

interface Props {
  shown: Shown;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** The line that is chosen, by its id. */
  line: string | null;
  onLine: (id: string | null) => void;
  onOpen?: (id: string) => void;
  /** Null where nothing may be changed: a run's graph. */
  edits: CanvasEdits | null;
  children?: ReactNode;
}

export interface CanvasEdits {
  move: (places: ReadonlyMap<string, Place>) => void;
  connect: (source: Source, target: Source) => void;
  refuse: (sentence: string, node: string) => void;
  dropModule: (name: string, at: Place) => void;
  dropFiles: (data: DataTransfer, at: Place) => void;
  acts: CanvasActs;
}

/** The canvas itself: draws a graph, and tells what was done to it. It keeps nothing but where things are while they are dragged. */
export function Canvas({ shown, selected, onSelect, line, onLine, onOpen, edits, children }: Props) {
  const flow = useReactFlow();
  const [nodes, setNodes] = useState<CanvasNode[]>(() => toNodes(shown, new Map()));
  const [targets, setTargets] = useState<ReadonlySet<string> | null>(null);
  const [isDropping, setDropping] = useState(false);
  const { graph, catalog } = shown;

  useEffect(() => {
    setNodes((before) => toNodes(shown, new Map(before.map((node) => [node.id, node]))));
  }, [shown]);
  const drawn = useMemo(() => nodes.map((node) => (Boolean(node.selected) === selected.has(node.id) ? node : { ...node, selected: selected.has(node.id) })), [nodes, selected]);
  const edges = useMemo(() => toEdges(graph, catalog, shown.steps), [graph, catalog, shown.steps]);
  const drawnEdges = useMemo(() => (line === null ? edges : edges.map((edge) => (edge.id === line ? { ...edge, selected: true } : edge))), [edges, line]);

  const changeNodes = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const chosen = new Set(selected);
      let isChosen = false;
      for (const change of changes) {
        if (change.type !== "select") continue;
        isChosen = true;
        if (change.selected) chosen.add(change.id);
        else chosen.delete(change.id);
      }
      if (isChosen) onSelect(chosen);
      const rest = withMembers(changes.filter((change) => change.type === "position" || change.type === "dimensions"), nodes, shown);
      if (rest.length === 0) return;
      setNodes((before) => applyNodeChanges(rest, before));
      const moved = rest.flatMap((change) => (change.type === "position" && !change.dragging && change.position ? [[change.id, change.position] as const] : []));
      const real = moved.filter(([id, place]) => !id.startsWith("group:") && isElsewhere(shown, id, place));
      if (real.length > 0) edits?.move(new Map(real));
    },
    [selected, onSelect, nodes, shown, edits],
  );
  const changeEdges = useCallback(
    (changes: EdgeChange<Edge>[]) => {
      const chosen = changes.findLast((change) => change.type === "select");
      if (chosen?.type === "select") onLine(chosen.selected ? chosen.id : null);
    },
    [onLine],
  );

  // On the elements themselves: drawing all of it anew to move it would be the opposite of what this is for.
  const store = useStoreApi();
  const dots = useRef<HTMLDivElement>(null);
  const follow = useCallback((view: View) => store.getState().domNode?.toggleAttribute("data-far", view[2] < FAR), [store]);
  const carry = useCarry(nodes.length, dots, follow);
  const startLine: OnConnectStart = (_, from) => {
    if (from.handleType !== "source" || !from.nodeId || !from.handleId) return;
    setTargets(new Set(openPorts(shown, from.nodeId, from.handleId)));
  };
  const endLine: OnConnectEnd = (_, state) => {
    setTargets(null);
    if (state.isValid !== false || !state.fromHandle || !state.toHandle || !state.fromNode || !state.toNode) return;
    const sentence = whyNot(state.fromHandle, state.toHandle, shown);
    if (sentence) edits?.refuse(sentence, state.toNode.id);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const name = event.dataTransfer.getData(DRAG_TYPE);
    if (name) edits?.dropModule(name, { x: at.x - 128, y: at.y - 28 });
    else if (event.dataTransfer.types.includes("Files")) edits?.dropFiles(event.dataTransfer, at);
  };
  return (
    <div className={classes(styles.canvas, isDropping && styles.isDropping)} data-testid="designer-canvas">
      <ActsContext value={edits?.acts ?? null}>
        <TargetsContext value={targets}>
          <ReactFlow<CanvasNode>
            nodes={drawn}
            edges={drawnEdges}
            nodeTypes={NODE_TYPES}
            onNodesChange={changeNodes}
            onEdgesChange={changeEdges}
            onConnect={(made) => edits?.connect({ node: made.source, port: made.sourceHandle ?? "" }, { node: made.target, port: made.targetHandle ?? "" })}
            onConnectStart={startLine}
            onConnectEnd={endLine}
            isValidConnection={(made) => whyRefused(graph, catalog, wantedOf(made)) === null}
            onNodeDoubleClick={(_, node) => onOpen?.(node.id)}
            onPaneClick={() => {
              onSelect(new Set());
              onLine(null);
            }}
            onDrop={edits ? drop : undefined}
            onDragOver={(event) => {
              if (!edits || !(event.dataTransfer.types.includes(DRAG_TYPE) || event.dataTransfer.types.includes("Files"))) return;
              event.preventDefault();
              event.dataTransfer.dropEffect = "copy";
              if (event.dataTransfer.types.includes("Files")) setDropping(true);
            }}
            onDragLeave={() => setDropping(false)}
            nodesDraggable={edits !== null}
            nodesConnectable={edits !== null}
            elevateNodesOnSelect={false}
            deleteKeyCode={null} // keys of our own, which also know undo
            multiSelectionKeyCode={["Shift", "Control", "Meta"]}
            selectionKeyCode="Shift"
            panOnScroll
            zoomOnDoubleClick={false}
            snapToGrid
            snapGrid={GRID}
            minZoom={0.1}
            maxZoom={2}
            fitView
            fitViewOptions={{ padding: FIT_PADDING, maxZoom: 1 }}
            connectionRadius={28}
            {...carry}
          >
            <Dots ref={dots} />
            <LargeMap nodes={nodes} />
            {children}
          </ReactFlow>
        </TargetsContext>
      </ActsContext>
    </div>
  );
}

const FAR = 0.5; // too far away to read what is small
const MAP_NODES = 12;
const MAP_ROOM = 700;

/** A map only where one can get lost, and where there is room for it: on a small canvas, or where all is in sight, it would cover what it shows. */
function LargeMap({ nodes }: { nodes: readonly CanvasNode[] }) {
  const all = useMemo(() => around(nodes), [nodes]);
  const isNeeded = useStore(({ width, height, transform: [x, y, zoom] }) => {
    if (nodes.length < MAP_NODES || width < MAP_ROOM) return false;
    return all.left * zoom + x < 0 || all.top * zoom + y < 0 || all.right * zoom + x > width || all.bottom * zoom + y > height;
  });
  return isNeeded ? <MiniMap pannable zoomable ariaLabel="Map of the pipeline" position="bottom-right" style={{ width: 168, height: 118 }} /> : null;
}

function around(nodes: readonly CanvasNode[]): Box {
  const sides = nodes.map(({ position: { x, y }, measured }) => ({ left: x, top: y, right: x + (measured?.width ?? 0), bottom: y + (measured?.height ?? 0) }));
  return {
    left: Math.min(...sides.map((side) => side.left)),
    top: Math.min(...sides.map((side) => side.top)),
    right: Math.max(...sides.map((side) => side.right)),
    bottom: Math.max(...sides.map((side) => side.bottom)),
  };
}

interface End {
  nodeId: string;
  id?: string | null;
  type: string;
}

/** A line may be drawn from either end. */
function whyNot(from: End, to: End, { graph, catalog }: Shown): string | null {
  if (from.type === to.type) return from.type === "source" ? "Both ports are outputs. Draw from an output, at the foot, to an input, at the head of a module." : "Both ports are inputs. Draw from an output, at the foot, to an input, at the head of a module.";
  const [source, target] = from.type === "source" ? [from, to] : [to, from];
  return whyRefused(graph, catalog, { source: source.nodeId, sourcePort: source.id ?? "", target: target.nodeId, targetPort: target.id ?? "" });
}

function wantedOf(made: Connection | Edge): Wanted {
  return { source: made.source, sourcePort: made.sourceHandle ?? "", target: made.target, targetPort: made.targetHandle ?? "" };
}

function openPorts({ graph, catalog }: Shown, source: string, sourcePort: string): string[] {
  return Object.keys(graph.nodes).flatMap((target) =>
    portsOf(graph, target, catalog)
      .inputs.filter((port) => whyRefused(graph, catalog, { source, sourcePort, target, targetPort: port.name }) === null)
      .map((port) => `${target}:${port.name}`),
  );
}

/** Whoever moves a group moves what is in it. */
function withMembers(changes: NodeChange<CanvasNode>[], nodes: readonly CanvasNode[], { graph }: Shown): NodeChange<CanvasNode>[] {
  return changes.flatMap((change) => {
    if (change.type !== "position" || !change.id.startsWith("group:") || !change.position) return [change];
    const frame = nodes.find((node) => node.id === change.id);
    const group = (graph.groups ?? []).find((each) => `group:${each.id}` === change.id);
    if (!frame || !group) return [change];
    const [dx, dy] = [change.position.x - frame.position.x, change.position.y - frame.position.y];
    const places = new Map(nodes.map((node) => [node.id, node.position]));
    const members = group.nodes.map((id) => {
      const place = places.get(id) ?? graph.layout?.[id] ?? { x: 0, y: 0 };
      // A closed group's modules are not drawn: they move when it is let go.
      const isDrawn = places.has(id);
      const from = graph.layout?.[id] ?? place;
      const home = frameHome(group.nodes, graph.layout ?? {});
      const to = isDrawn ? { x: place.x + dx, y: place.y + dy } : { x: from.x + (change.position as Place).x - home.x, y: from.y + (change.position as Place).y - home.y };
      return { id, type: "position" as const, position: to, dragging: change.dragging };
    });
    return [change, ...members];
  });
}

function frameHome(ids: readonly string[], layout: Readonly<Record<string, Place>>): Place {
  const places = ids.flatMap((id) => layout[id] ?? []);
  return { x: Math.min(...places.map((place) => place.x)), y: Math.min(...places.map((place) => place.y)) };
}

function isElsewhere({ graph }: Shown, id: string, place: Place): boolean {
  const now = graph.layout?.[id] ?? graph.notes?.find((note) => note.id === id);
  return !now || Math.round(place.x) !== now.x || Math.round(place.y) !== now.y;
}
