import { useQuery, type QueryKey } from "@tanstack/react-query";
import { useCallback, useMemo, type ReactNode } from "react";
import type { Preview } from "@/api/types";
import { Card } from "@/components/Card";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { useSearch } from "@/router/location";
import { foldersAbove, readPlace, toggled, writeOpen } from "./browse";
import { FilePreview } from "./FilePreview";
import styles from "./Files.module.css";
import { TreeView, type TreeSource } from "./TreeView";

interface Props {
  title: string;
  source: TreeSource;
  previewKey: (path: string) => QueryKey;
  preview: (path: string, signal?: AbortSignal) => Promise<Preview>;
  /** Where the file itself is; without it, files cannot be had one by one. */
  download?: (path: string) => string;
  picture?: (path: string) => string;
  /** All files in one. */
  zip: string;
  /** Folders open from the start. */
  first: readonly string[];
  /** The file shown when none is chosen. */
  start?: string | null;
  hint: ReactNode;
}

/** Files in a tree, and one of them as what it is. The place is in the address. */
export function FileBrowser({ title, source, previewKey, preview, download, picture, zip, first, start = null, hint }: Props) {
  const [search, change] = useSearch();
  const place = useMemo(() => readPlace(search, start ? [...first, ...foldersAbove(start)] : first), [search, first, start]);
  const file = place.file ?? start;
  const select = useCallback((path: string) => change({ file: path, open: writeOpen(new Set([...place.open, ...foldersAbove(path)])) }, { push: true }), [change, place.open]);
  return (
    <div className={styles.browser}>
      <Card
        title={title}
        isFlush
        actions={
          <a className={styles.download} href={zip} download data-testid="files-zip">
            <Icon name="download" /> Zip
          </a>
        }
      >
        <TreeView label={title} source={source} open={place.open} onToggle={(path) => change({ open: writeOpen(toggled(place.open, path)) })} selected={file} onSelect={select} />
      </Card>
      <div className={styles.shown}>
        {file === null ? (
          <Card>
            <EmptyState icon="file" title="Choose a file">
              {hint}
            </EmptyState>
          </Card>
        ) : (
          <Shown key={file} file={file} previewKey={previewKey} preview={preview} download={download} picture={picture} />
        )}
      </div>
    </div>
  );
}

type ShownProps = Pick<Props, "previewKey" | "preview" | "download" | "picture"> & { file: string };

function Shown({ file, previewKey, preview, download, picture }: ShownProps) {
  const asked = useQuery({ queryKey: previewKey(file), queryFn: ({ signal }) => preview(file, signal) });
  return (
    <Card
      title={<span className={styles.fileName}>{file}</span>}
      testId="file-shown"
      actions={
        <span className={styles.fileActions}>
          {asked.data && <span className="numbers">{formatBytes(asked.data.size)}</span>}
          {download && (
            <a className={styles.download} href={download(file)} download data-testid="file-download">
              <Icon name="download" /> Download
            </a>
          )}
        </span>
      }
    >
      {asked.isPending && <Skeleton lines={8} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && <FilePreview preview={asked.data} picture={picture?.(file)} />}
    </Card>
  );
}
