import { Handle, Position, useUpdateNodeInternals, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useEffect, useRef } from "react";
import { classes } from "@/components/classes";
import { Icon, type IconName } from "@/components/Icon";
import { StatusPill } from "@/components/StatusPill";
import { Elapsed } from "@/components/Time";
import type { CardPort, GraphNode } from "../graph/model";
import type { Ports } from "../graph/ports";
import { isMissing } from "../graph/problems";
import styles from "./Canvas.module.css";
import type { StepNode } from "./toFlow";

/** Of a title that is read from far away: cut here, because what is cut by the browser costs with every frame. */
const FAR_LETTERS = 40;

/** While a line is being drawn: the ports where it may end, as "node:port"; null when none is. */
export const TargetsContext = createContext<ReadonlySet<string> | null>(null);

/** A module, a data set, a model: what it is, how it is, and its ports: inputs at the head, outputs at the foot. */
export const StepNodeView = memo(function StepNodeView({ id, data, selected }: NodeProps<StepNode>) {
  const { node, title, category, ports, problems, step, share, progress, isFound, isRefused } = data;
  usePortPlaces(id, ports);
  const first = problems.find((problem) => !isMissing(problem)) ?? problems[0];
  const state = step ? toneOf(step.status) : first ? (isMissing(first) ? "warn" : "bad") : null;
  return (
    <div
      className={classes(styles.node, selected && styles.selected, isFound && styles.found, isRefused && styles.refused, state && styles[state], !ports.isKnown && styles.unknown)}
      data-testid="designer-node"
      data-node={id}
      data-status={step?.status}
      data-problems={problems.length || undefined}
      data-refused={isRefused || undefined}
      data-reused={step?.reused_from ? "yes" : undefined}
    >
      <PortRow node={id} ports={ports.inputs} side="in" hasOrder={data.isAfter} />
      <div className={styles.title} data-title={title.length > FAR_LETTERS ? `${title.slice(0, FAR_LETTERS - 1)}…` : title}>
        <span className={styles.icon} data-kind={iconOf(node, category)}>
          <Icon name={iconOf(node, category)} />
        </span>
        <span className={styles.words}>
          <strong title={title}>{title}</strong>
          <small>{category}</small>
        </span>
        {node.run_settings && Number(node.run_settings.node_count ?? 1) * Number(node.run_settings.process_count_per_node ?? 1) > 1 && (
          <span className={styles.chip} title="Nodes × processes">
            {node.run_settings.node_count ?? 1} × {node.run_settings.process_count_per_node ?? 1}
          </span>
        )}
      </div>
      {node.comment && <p className={styles.comment}>{node.comment}</p>}
      {step ? (
        <div className={styles.state}>
          <StatusPill status={step.status} reason={step.reason} />
          {step.reused_from ? (
            <span className={styles.reused} title={step.reuse ?? undefined}>
              <Icon name="again" size={12} /> reused
            </span>
          ) : (
            step.started && (
              <span className="numbers">
                <Elapsed start={step.started} end={step.ended} />
              </span>
            )
          )}
          {progress && <span className={styles.progressWords}>{progress}</span>}
        </div>
      ) : (
        first && (
          <p className={styles.problem} title={first.message}>
            <Icon name={isMissing(first) ? "info" : "failed"} size={12} />
            <span>{problems.length > 1 ? `${problems.length} things to mend` : withoutTitle(first.message, title)}</span>
          </p>
        )
      )}
      {share !== null && (
        <div className={styles.bar} role="progressbar" aria-label="Progress" aria-valuenow={Math.round(share * 100)} aria-valuemin={0} aria-valuemax={100}>
          <span style={{ width: `${Math.round(share * 100)}%` }} />
        </div>
      )}
      <PortRow node={id} ports={ports.outputs} side="out" hasOrder={data.isBefore} />
    </div>
  );
});

/** Lines end where ports were when they were measured: when there are others, they are measured anew. */
function usePortPlaces(id: string, ports: Ports): void {
  const update = useUpdateNodeInternals();
  const names = [...ports.inputs, ...ports.outputs].map((port) => port.name).join("\n");
  const before = useRef(names);
  useEffect(() => {
    if (before.current === names) return;
    before.current = names;
    update(id);
  }, [id, names, update]);
}

function PortRow({ node, ports, side, hasOrder }: { node: string; ports: readonly CardPort[]; side: "in" | "out"; hasOrder: boolean }) {
  const targets = useContext(TargetsContext);
  return (
    <>
      {ports.map((port, index) => {
        const isOpen = side === "in" && targets?.has(`${node}:${port.name}`);
        return (
          <Handle
            key={port.name}
            id={port.name}
            type={side === "in" ? "target" : "source"}
            position={side === "in" ? Position.Top : Position.Bottom}
            className={classes(styles.port, side === "in" ? styles.in : styles.out, port.optional && styles.optional, targets && (isOpen ? styles.fits : styles.unfit))}
            style={{ left: `${((index + 1) / (ports.length + 1)) * 100}%` }}
            data-type={port.types[0] ?? ""}
            data-port={port.name}
            data-label={`${port.label}${port.types.length ? `: ${port.types.join(" or ")}` : ""}${port.optional && side === "in" ? " (may be left open)" : ""}`}
          />
        );
      })}
      {/* Order without data ends here; nobody draws to it. */}
      {hasOrder && <Handle id="after" type={side === "in" ? "target" : "source"} position={side === "in" ? Position.Top : Position.Bottom} isConnectable={false} className={styles.order} />}
    </>
  );
}

export function iconOf(node: Pick<GraphNode, "kind">, category: string): IconName {
  if (node.kind === "data") return "data";
  if (node.kind === "model") return "model";
  if (node.kind === "script") return "code";
  if (category.startsWith("Unknown ")) return "warning";
  if (/Image Data|Vision/.test(category)) return "image";
  if (/Classification|Regression|Clustering|Algorithm/.test(category)) return "nest";
  if (/Training/.test(category)) return "play";
  if (/Scoring|Evaluation/.test(category)) return "chart";
  if (/Python|Script/.test(category)) return "code";
  if (/Input|Output/.test(category)) return "data";
  if (/Transformation|Selection/.test(category)) return "filter";
  if (/Web Service/.test(category)) return "endpoint";
  return "designer";
}

function toneOf(status: string): "good" | "bad" | "warn" | "busy" | null {
  if (status === "Completed") return "good";
  if (status === "Failed") return "bad";
  if (status === "CancelRequested" || status === "NotResponding") return "warn";
  return ["NotStarted", "Canceled"].includes(status) ? null : "busy";
}

/** On the node itself its title need not be said again. */
function withoutTitle(message: string, title: string): string {
  return message.startsWith(`${title}: `) ? message.slice(title.length + 2) : message;
}
