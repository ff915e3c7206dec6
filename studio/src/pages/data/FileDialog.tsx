import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import type { Dataset } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { FilePreview } from "@/pages/run/files/FilePreview";
import styles from "./Data.module.css";

interface Props {
  dataset: Dataset;
  path: string;
  download: string;
  onClose: () => void;
}

/** A file that is no picture, as what it is: text, JSON, a table, or why it cannot be shown. */
export function FileDialog({ dataset, path, download, onClose }: Props) {
  const manifest = dataset.manifest_id ?? "";
  const asked = useQuery({
    queryKey: keys.dataContent(dataset.name, dataset.version, "file", path),
    queryFn: ({ signal }) => call("preview_manifest_file", { path: { manifest_id: manifest, path }, signal }),
    staleTime: Infinity,
  });
  return (
    <Dialog
      title={path}
      isWide
      onClose={onClose}
      actions={
        <a className={styles.download} href={download} download={path.split("/").pop()}>
          <Icon name="download" /> Download
        </a>
      }
    >
      <div data-testid="data-file">
        {asked.isPending && <Skeleton lines={6} />}
        {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
        {asked.data && <FilePreview preview={asked.data} />}
      </div>
    </Dialog>
  );
}
