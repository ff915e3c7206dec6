import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Compute } from "@/api/types";
import { Button } from "@/components/Button";
import { Confirm } from "@/components/Dialog";
import { formatDuration } from "@/components/format";
import { Pill } from "@/components/StatusPill";
import { Ago } from "@/components/Time";
import { toast, toastError } from "@/components/toasts";
import { Link } from "@/router/Link";
import styles from "./Compute.module.css";
import { isEmbedded, nodeHas, nodeLook, type ComputeNode } from "./targets";

interface Props {
  target: Compute;
  nodes: readonly ComputeNode[];
  mayPreempt: boolean;
}

export function NodeList({ target, nodes, mayPreempt }: Props) {
  const [taken, setTaken] = useState<ComputeNode | null>(null);
  if (nodes.length === 0) return <p className={styles.empty}>No node is up. One comes when a run needs it.</p>;
  const isLow = target.spec.vm_priority === "lowpriority";
  return (
    <>
      <ul className={styles.nodes}>
        {nodes.map((node) => (
          <li key={node.id} data-row={node.id}>
            <div className={styles.node}>
              <code>{node.id}</code>
              <Pill word={node.state} {...nodeLook(node.state)} title={node.detail ?? undefined} />
              {mayPreempt && isEmbedded(target) && (node.state === "running" || node.state === "idle") && (
                <Button variant="quiet" icon="stop" onClick={() => setTaken(node)} aria-label={`Preempt ${node.id}`}>
                  Preempt
                </Button>
              )}
            </div>
            <span className={styles.about}>
              {[nodeHas(node), node.address === "127.0.0.1" ? "" : node.address].filter(Boolean).map((part) => `${part} · `)}
              {node.since_utc && (
                <>
                  {node.state}, changed <Ago time={node.since_utc} />
                </>
              )}
              {(node.runs ?? []).map((each) => (
                <span key={each.id}>
                  {" · "}
                  <Link to={`/runs/${encodeURIComponent(each.run_id)}`}>{each.run_id}</Link>
                </span>
              ))}
            </span>
            {node.detail && <span className={styles.about}>{node.detail}</span>}
          </li>
        ))}
      </ul>
      {taken && <PreemptDialog target={target} node={taken} isLow={isLow} onClose={() => setTaken(null)} />}
    </>
  );
}

function PreemptDialog({ target, node, isLow, onClose }: { target: Compute; node: ComputeNode; isLow: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const preempt = useMutation({
    mutationFn: () => call("preempt_node", { path: { name: target.name }, body: { node: node.id, force: !isLow } }),
    onError: toastError,
    onSuccess: (told) => {
      void client.invalidateQueries({ queryKey: keys.compute() });
      toast(`${told.node} is taken away; what ran there has ${formatDuration(told.grace_s)} to save its work`);
    },
    onSettled: onClose,
  });
  return (
    <Confirm title="Take this node away?" verb={isLow ? "Preempt the node" : "Preempt it all the same"} isDangerous isBusy={preempt.isPending} onConfirm={() => preempt.mutate()} onClose={onClose}>
      <p>
        <code>{node.id}</code> goes as a cloud takes a low-priority node: processes get a signal and some seconds to save, then {node.run_id ? "the run goes back to the queue and resumes" : "the node is away for a while"}.
        {!isLow && " This target is dedicated, so its nodes are not taken otherwise."}
      </p>
    </Confirm>
  );
}
