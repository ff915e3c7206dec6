import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { plural } from "@/components/format";
import { Skeleton } from "@/components/Skeleton";
import { Link } from "@/router/Link";
import { DiffFileCard } from "./DiffFileCard";
import styles from "./Snapshot.module.css";

interface Props {
  run: string;
  /** The one it is compared with, taken as the older. */
  other: string;
  onOther: () => void;
  onClose: () => void;
}

const OPEN_AT_FIRST = 12;

/** What changed in the source folder from the other run to this one. */
export function DiffView({ run, other, onOther, onClose }: Props) {
  const diff = useQuery({ queryKey: keys.run(run, "diff", other), queryFn: ({ signal }) => call("diff_snapshots", { path: { run_id: run, other }, signal }), staleTime: Infinity });
  const brief = useQuery({ queryKey: keys.run(other, "overview"), queryFn: ({ signal }) => call("get_overview", { path: { run_id: other }, signal }) });
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  const found = diff.data;
  return (
    <div className={styles.diff} data-testid="snapshot-diff">
      <div className={styles.head}>
        <p>
          From <Link to={`/runs/${encodeURIComponent(other)}?tab=snapshot`}>{brief.data?.run.display_name || other}</Link> to this run
          {found && `: ${summary(found.files, found.same)}`}
        </p>
        <Button icon="compare" onClick={onOther}>
          Another run
        </Button>
        <Button icon="close" onClick={onClose}>
          Back to the files
        </Button>
      </div>
      {diff.isPending && <Skeleton lines={8} />}
      {diff.error && <ErrorNotice error={diff.error} onRetry={() => void diff.refetch()} />}
      {found?.files.length === 0 && (
        <Card>
          <EmptyState icon="check" title="The code is the same">
            <p>Both runs were submitted with the same {plural(found.same, "file")}. What differs otherwise is on the page Compare.</p>
          </EmptyState>
        </Card>
      )}
      {found?.files.map((file, index) => (
        <DiffFileCard key={file.path} file={file} isOpen={index < OPEN_AT_FIRST !== toggled.has(file.path)} onToggle={() => toggle(file.path)} />
      ))}
      {found?.more && <p className="soft">More files differ than are listed here. Both snapshots can be downloaded as zip.</p>}
    </div>
  );
}

function summary(files: readonly { change: string }[], same: number): string {
  const count = (change: string) => files.filter((file) => file.change === change).length;
  const words = [
    [count("changed") + count("mode"), "changed"],
    [count("added"), "new"],
    [count("removed"), "removed"],
    [same, "the same"],
  ] as const;
  return words
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number.toLocaleString("en-US")} ${word}`)
    .join(", ");
}
