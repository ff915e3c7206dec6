import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { call, urlOf } from "@/api/client";
import { Button } from "@/components/Button";
import { formatBytes, plural } from "@/components/format";
import { useSearch } from "@/router/location";
import { FileBrowser } from "../files/FileBrowser";
import { RunPicker } from "../RunPicker";
import type { TabProps } from "../tabs";
import { DiffView } from "./DiffView";
import styles from "./Snapshot.module.css";

const FIRST: string[] = [];

/** The code as it was submitted: every file, and what changed since another run. */
export default function SnapshotTab({ run, overview }: TabProps) {
  const [search, change] = useSearch();
  const [isPicking, setPicking] = useState(false);
  const other = search.get("against");
  const { snapshot } = overview;
  if (!snapshot) return null;
  return (
    <div className={styles.tab} data-testid="run-snapshot">
      {other ? (
        <DiffView run={run.id} other={other} onOther={() => setPicking(true)} onClose={() => change({ against: null }, { push: true })} />
      ) : (
        <>
          <div className={styles.head}>
            <p className="soft">The source folder as it was when the run was submitted. Nothing changes it any more.</p>
            <Button icon="compare" onClick={() => setPicking(true)} data-testid="snapshot-compare">
              What changed since another run
            </Button>
          </div>
          <Files id={snapshot.id} title={`${plural(snapshot.files, "file")}, ${formatBytes(snapshot.bytes)}`} script={run.spec.script ?? null} />
        </>
      )}
      {isPicking && (
        <RunPicker
          title="What changed since which run?"
          experiment={run.experiment}
          without={[run.id]}
          onClose={() => setPicking(false)}
          onPick={(picked) => {
            setPicking(false);
            change({ against: picked.id }, { push: true });
          }}
        />
      )}
    </div>
  );
}

function Files({ id, title, script }: { id: string; title: string; script: string | null }) {
  const source = useMemo(
    () => ({
      key: (path: string) => ["snapshot", id, "tree", path],
      load: (path: string, signal?: AbortSignal) => call("list_snapshot", { path: { snapshot_id: id }, query: { path }, signal }),
    }),
    [id],
  );
  // The script is what one wants to see first; whether it is there is known from its folder.
  const folder = script?.includes("/") ? script.slice(0, script.lastIndexOf("/")) : "";
  const beside = useQuery({ queryKey: source.key(folder), queryFn: ({ signal }) => source.load(folder, signal), enabled: script !== null, staleTime: Infinity });
  const start = beside.data?.files.some((file) => file.path === script) ? script : null;
  return (
    <FileBrowser
      title={title}
      source={source}
      previewKey={(path) => ["snapshot", id, "preview", path]}
      preview={(path, signal) => call("preview_snapshot_file", { path: { snapshot_id: id, path }, signal })}
      picture={(path) => urlOf("get_snapshot_picture", { snapshot_id: id, path })}
      zip={urlOf("get_snapshot_zip", { snapshot_id: id })}
      first={FIRST}
      start={start}
      hint={<p>Each file is shown as it was when the run was submitted.</p>}
    />
  );
}
