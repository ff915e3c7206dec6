import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toApiError } from "@/api/errors";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Field } from "@/components/Field";
import { CodeView } from "@/components/LineView";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import { graphOf, pythonOf, yamlOf } from "./asks";
import styles from "./Designer.module.css";
import type { Graph } from "./graph/model";
import { KEYS } from "./useKeys";

/** The same pipeline as Python code and as a YAML file. */
export function CodeDialog({ graph, onClose }: { graph: Graph; onClose: () => void }) {
  const [tab, setTab] = useState("python");
  return (
    <Dialog title="As code" onClose={onClose} isWide>
      <Tabs
        label="Language"
        selected={tab}
        onSelect={setTab}
        tabs={[
          { id: "python", label: "Python", content: () => <Code key="python" graph={graph} language="python" /> },
          { id: "yaml", label: "YAML", content: () => <Code key="yaml" graph={graph} language="yaml" /> },
        ]}
      />
    </Dialog>
  );
}

function Code({ graph, language }: { graph: Graph; language: "python" | "yaml" }) {
  const asked = useQuery({ queryKey: ["pipeline-code", language], queryFn: () => (language === "python" ? pythonOf(graph) : yamlOf(graph)), staleTime: 0, gcTime: 0 });
  if (asked.error) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (asked.isPending || asked.isFetching) return <Skeleton lines={10} />;
  return (
    <div data-testid="designer-code">
      <div className={styles.tools}>
        <p className={styles.about}>
          {language === "python" ? (
            <>Runs where a workspace&apos;s config is found.</>
          ) : (
            <>
              Run it with <code>rookery pipeline run FILE</code>.
            </>
          )}
        </p>
        <CopyButton text={asked.data} label="Copy the code" />
      </div>
      <CodeView label={language} text={asked.data} maxHeight="60vh" />
    </div>
  );
}

/** A YAML file becomes a draft. */
export function YamlDialog({ onGraph, onClose }: { onGraph: (graph: Graph) => Promise<unknown>; onClose: () => void }) {
  const [text, setText] = useState("");
  const open = useMutation({ mutationFn: async () => onGraph((await graphOf(text)).graph) });
  return (
    <Dialog
      title="Open a YAML file"
      onClose={onClose}
      isWide
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" isBusy={open.isPending} disabled={text.trim() === ""} onClick={() => open.mutate()} data-testid="designer-yaml-open">
            Make a draft of it
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        <Field label="File">
          {(ids) => (
            <input
              {...ids}
              type="file"
              accept=".yaml,.yml,text/yaml"
              onChange={(event) => {
                void event.target.files?.[0]?.text().then(setText);
              }}
            />
          )}
        </Field>
        <Field label="Or its text" problem={open.error ? toApiError(open.error).message : undefined}>
          {(ids) => <textarea {...ids} className={`${styles.textarea} ${styles.code}`} spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
      </div>
    </Dialog>
  );
}

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys of the designer" onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([keys, words]) => (
          <div key={keys} style={{ display: "contents" }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
