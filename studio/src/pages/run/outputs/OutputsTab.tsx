import { useMemo } from "react";
import { call, urlOf } from "@/api/client";
import { keys } from "@/api/query";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { formatBytes, plural } from "@/components/format";
import { isOver } from "@/components/StatusPill";
import { FileBrowser } from "../files/FileBrowser";
import type { TabProps } from "../tabs";

const FIRST = ["outputs"];

/** Everything the run left: a tree, and each file as what it is. Grows while the run uploads. */
export default function OutputsTab({ run, overview }: TabProps) {
  const { id } = run;
  const source = useMemo(
    () => ({
      key: (path: string) => keys.run(id, "tree", path),
      load: (path: string, signal?: AbortSignal) => call("list_tree", { path: { run_id: id }, query: { path }, signal }),
    }),
    [id],
  );
  if (overview.artifacts.files === 0) return <Nothing isLive={!isOver(run.status)} />;
  return (
    <div data-testid="run-outputs">
      <FileBrowser
        title={`${plural(overview.artifacts.files, "file")}, ${formatBytes(overview.artifacts.bytes)}`}
        source={source}
        previewKey={(path) => keys.run(id, "preview", path)}
        preview={(name, signal) => call("preview_file", { path: { run_id: id, name }, signal })}
        download={(name) => urlOf("get_artifact", { run_id: id, name })}
        picture={(name) => urlOf("get_picture", { run_id: id, name })}
        zip={urlOf("get_outputs_zip", { run_id: id })}
        first={FIRST}
        hint={<p>Pictures, texts, JSON, tables (CSV, JSON lines, parquet) and ONNX models are shown here; everything can be downloaded.</p>}
      />
    </div>
  );
}

function Nothing({ isLive }: { isLive: boolean }) {
  return (
    <Card>
      <EmptyState icon="folder" title={isLive ? "No files yet" : "The run left no files"}>
        <p>What a script writes below this folder is kept and shown here, {isLive ? "while it runs" : "once it runs"}:</p>
        <pre>
          <code>{'os.makedirs("outputs", exist_ok=True)\ntorch.save(net.state_dict(), "outputs/net.pt")'}</code>
        </pre>
      </EmptyState>
    </Card>
  );
}
