import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { useMay } from "@/api/session";
import type { Dataset } from "@/api/types";
import { Card, Facts } from "@/components/Card";
import { Confirm } from "@/components/Dialog";
import { formatBytes, formatTime, plural } from "@/components/format";
import { Menu } from "@/components/Menu";
import { Tags } from "@/components/Tags";
import { toast, toastError } from "@/components/toasts";
import { Link } from "@/router/Link";
import { navigate } from "@/router/location";
import styles from "./Data.module.css";
import { datasetAddress, kindOf, sourcesOf } from "./datasets";
import { EditDatasetDialog } from "./EditDatasetDialog";

/** What is known of a version, and what can be changed of it. */
export function VersionCard({ dataset, isOnly }: { dataset: Dataset; isOnly: boolean }) {
  const client = useQueryClient();
  const mayChange = useMay("contributor");
  const [open, setOpen] = useState<"edit" | "version" | "all" | null>(null);
  const { name, version } = dataset;
  const remove = useMutation({
    mutationFn: (all: boolean) => call("delete_dataset", { path: { name }, query: all ? {} : { version } }),
    onError: toastError,
    onSuccess: (_, all) => {
      const isGone = all || isOnly;
      toast(isGone ? `${name} is forgotten; its files stay` : `Version ${version} is forgotten; its files stay`);
      navigate(isGone ? "/data" : datasetAddress(name));
      void client.invalidateQueries({ queryKey: keys.data("names") });
      if (!isGone) void client.invalidateQueries({ queryKey: keys.data("versions", name) });
    },
    onSettled: () => setOpen(null),
  });
  return (
    <>
      <Card
        title={`Version ${version}`}
        testId="data-version"
        actions={
          mayChange ? (
            <Menu
              label="More to do with this version"
              isIconOnly
              items={[
                { label: "Description and tags", icon: "tag", run: () => setOpen("edit") },
                { label: "Forget this version", icon: "trash", isDangerous: true, run: () => setOpen("version") },
                { label: "Forget all versions", icon: "trash", isDangerous: true, run: () => setOpen("all") },
              ]}
            />
          ) : undefined
        }
      >
        {dataset.description && <p className={styles.text}>{dataset.description}</p>}
        <Facts
          facts={[
            ["Kind", kindOf(dataset)],
            ["Content", `${plural(dataset.files, "file")}, ${formatBytes(dataset.bytes)}`],
            ["Registered", `${formatTime(dataset.created_utc)} by ${dataset.created_by}`],
            ...(dataset.run_id ? [["Made by", <Link key="run" to={`/runs/${encodeURIComponent(dataset.run_id)}`}>{dataset.run_id}</Link>] as const] : []),
            ["From", sourcesOf(dataset).map((source) => <div key={source} className={styles.where}>{source}</div>)],
            ...(dataset.fingerprint ? [["Fingerprint", <code key="print" title={dataset.fingerprint}>{dataset.fingerprint.slice(0, 16)}</code>] as const] : []),
            ...(Object.keys(dataset.tags).length > 0 ? [["Tags", <Tags key="tags" tags={dataset.tags} />] as const] : []),
          ]}
        />
      </Card>
      {open === "edit" && <EditDatasetDialog dataset={dataset} onClose={() => setOpen(null)} />}
      {(open === "version" || open === "all") && (
        <Confirm
          title={open === "all" ? `Forget ${name}?` : `Forget version ${version} of ${name}?`}
          verb={open === "all" ? "Forget all versions" : "Forget the version"}
          isDangerous
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(open === "all")}
          onClose={() => setOpen(null)}
        >
          <p>Its files stay where they are, and so does what runs say of it. The number is not used again.</p>
        </Confirm>
      )}
    </>
  );
}
