import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, urlOf, type Answer } from "@/api/client";
import { keys } from "@/api/query";
import type { Dataset } from "@/api/types";
import { Button } from "@/components/Button";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, formatCount, plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { Thumb } from "@/components/Thumb";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import styles from "./Data.module.css";
import { datasetAddress, isPicture, trail } from "./datasets";
import { FileDialog } from "./FileDialog";
import { PictureDialog } from "./PictureDialog";

const PAGE = 200;
type Entry = Answer<"list_dataset_folder">["entries"][number];

/** What lies in a data set of files: folders to walk into, pictures as a grid, the rest by name. Where one is stands in the address. */
export function FolderView({ dataset }: { dataset: Dataset }) {
  const { name, version } = dataset;
  const [search, change] = useSearch();
  const folder = search.get("folder") ?? "";
  const file = search.get("file");
  const asked = useInfiniteQuery({
    queryKey: keys.dataContent(name, version, "folder", folder),
    queryFn: ({ signal, pageParam }) => call("list_dataset_folder", { path: { name, version }, query: { path: folder, first: pageParam, limit: PAGE }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, all) => {
      const seen = all.reduce((sum, page) => sum + page.entries.length, 0);
      return last.entries.length > 0 && seen < last.total ? seen : undefined;
    },
    staleTime: Infinity,
  });
  const entries = asked.data?.pages.flatMap((page) => page.entries) ?? [];
  const [first] = asked.data?.pages ?? [];
  const folders = entries.filter((entry) => entry.is_folder);
  const pictures = entries.filter((entry) => entry.is_picture);
  const others = entries.filter((entry) => !entry.is_folder && !entry.is_picture);
  const to = (path: string) => `${datasetAddress(name, version)}${path ? `&folder=${encodeURIComponent(path)}` : ""}`;
  const url = (path: string, inline: boolean) => urlOf("get_dataset_file", { name, version, path }, { inline });
  return (
    <Card title={<Trail dataset={dataset} folder={folder} to={to} />} testId="data-preview">
      {asked.isPending && <Skeleton lines={5} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {folders.length > 0 && (
        <ul className={styles.folders} aria-label="Folders">
          {folders.map((entry) => (
            <li key={entry.path}>
              <Link to={to(entry.path)} className={styles.folder} data-row={entry.path}>
                <Icon name="folder" />
                <span className={styles.grow}>{entry.name}</span>
                <span className={styles.about}>{plural(entry.files ?? 0, "file")}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {pictures.length > 0 && (
        <ul className={styles.grid} aria-label="Pictures" data-testid="data-grid">
          {pictures.map((entry) => (
            <Thumbnail key={entry.path} entry={entry} source={url(entry.path, true)} onOpen={() => change({ file: entry.path })} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul className={styles.files} aria-label="Files">
          {others.map((entry) => (
            <li key={entry.path} data-row={entry.path}>
              <Icon name="file" />
              <Link to={`${to(folder)}&file=${encodeURIComponent(entry.path)}`} className={styles.grow}>
                {entry.name}
              </Link>
              <span className={styles.about}>{formatBytes(entry.bytes)}</span>
              <a href={url(entry.path, false)} download={entry.name} aria-label={`Download ${entry.name}`} title={`Download ${entry.name}`}>
                <Icon name="download" />
              </a>
            </li>
          ))}
        </ul>
      )}
      {first && (
        <p className={styles.more}>
          <span className={styles.about}>{entries.length < first.total ? `The first ${formatCount(entries.length)} of ${formatCount(first.total)}` : plural(first.total, "entry", "entries")}</span>
          {asked.hasNextPage && (
            <Button isBusy={asked.isFetchingNextPage} onClick={() => void asked.fetchNextPage()} data-testid="data-more">
              Show more
            </Button>
          )}
        </p>
      )}
      {file && isPicture(file) && <PictureDialog path={file} all={pictures.map((entry) => entry.path)} url={url} onShow={(path) => change({ file: path })} onClose={() => change({ file: null })} />}
      {file && !isPicture(file) && <FileDialog dataset={dataset} path={file} download={url(file, false)} onClose={() => change({ file: null })} />}
    </Card>
  );
}

function Trail({ dataset, folder, to }: { dataset: Dataset; folder: string; to: (path: string) => string }) {
  if (!folder) return <>Files</>;
  return (
    <nav className={styles.trail} aria-label="Folder">
      <Link to={to("")}>{dataset.name}</Link>
      {trail(folder).map(([part, path]) => (
        <span key={path}>
          <span aria-hidden="true"> / </span>
          {path === folder ? part : <Link to={to(path)}>{part}</Link>}
        </span>
      ))}
    </nav>
  );
}

function Thumbnail({ entry, source, onOpen }: { entry: Entry; source: string; onOpen: () => void }) {
  const [isBroken, setBroken] = useState(false);
  return (
    <li>
      <button type="button" className={styles.thumbnail} onClick={onOpen} title={`${entry.name}, ${formatBytes(entry.bytes)}`} data-row={entry.path}>
        {isBroken ? <Icon name="image" size={28} label="This picture cannot be shown" /> : <Thumb source={source} bytes={entry.bytes} onBroken={() => setBroken(true)} />}
        <span>{entry.name}</span>
      </button>
    </li>
  );
}
