import { useState } from "react";
import { Facts } from "@/components/Card";
import { Button } from "@/components/Button";
import { formatBytes, formatCount, plural } from "@/components/format";
import type { OnnxSummary } from "@/api/types";
import styles from "./Files.module.css";

const FIRST = 50;

/** What an ONNX model is: what goes in and comes out, its operators, its size. The weights are never read. */
export function OnnxView({ model }: { model: OnnxSummary }) {
  const most = Math.max(1, ...model.operators.map((each) => each.count));
  return (
    <div className={styles.onnx} data-testid="file-onnx">
      <Facts
        facts={[
          ["Graph", model.graph || "–"],
          ["Made by", `${model.producer || "unknown"} ${model.producer_version}`.trim()],
          ["Opsets", model.opsets.map((each) => `${each.domain || "ai.onnx"} ${each.version ?? "?"}`).join(", ") || "–"],
          ["Parameters", `${formatCount(model.num_parameters)} in ${plural(model.num_initializers, "tensor")}, ${formatBytes(model.weights_bytes)}`],
          ...Object.entries(model.metadata).map(([name, value]) => [name, value] as const),
        ]}
      />
      <Ports title="Inputs" ports={model.inputs} />
      <Ports title="Outputs" ports={model.outputs} />
      <section>
        <h3>{plural(model.num_nodes, "node")} by operator</h3>
        <ul className={styles.operators}>
          {model.operators.slice(0, 40).map((each) => (
            <li key={each.op}>
              <span>{each.op}</span>
              <i style={{ width: `${(each.count / most) * 100}%` }} />
              <b className="numbers">{formatCount(each.count)}</b>
            </li>
          ))}
        </ul>
      </section>
      <Nodes model={model} />
    </div>
  );
}

function Ports({ title, ports }: { title: string; ports: OnnxSummary["inputs"] }) {
  return (
    <section>
      <h3>{title}</h3>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={title}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Shape</th>
            </tr>
          </thead>
          <tbody>
            {ports.map((port) => (
              <tr key={port.name}>
                <td>{port.name}</td>
                <td>{port.type}</td>
                <td>{port.shape.join(" × ") || "scalar"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Nodes({ model }: { model: OnnxSummary }) {
  const [shown, setShown] = useState(FIRST);
  if (model.nodes.length === 0) return null;
  return (
    <section>
      <h3>Graph, in order</h3>
      <ol className={styles.graph}>
        {model.nodes.slice(0, shown).map((node, index) => (
          <li key={index}>
            <span className={styles.ports}>{node.inputs.filter(Boolean).join(", ") || "–"}</span>
            <b>{node.op}</b>
            <span className={styles.ports}>{node.outputs.join(", ")}</span>
          </li>
        ))}
      </ol>
      {model.nodes.length > shown && <Button onClick={() => setShown(shown + 500)}>Show more of {formatCount(model.num_nodes)}</Button>}
      {model.cut && <p className="soft">Only the first nodes are listed.</p>}
    </section>
  );
}
