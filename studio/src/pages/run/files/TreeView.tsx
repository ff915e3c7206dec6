import { useQuery, type QueryKey } from "@tanstack/react-query";
import type { KeyboardEvent } from "react";
import type { Tree } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, plural } from "@/components/format";
import { Icon, type IconName } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import styles from "./Files.module.css";

export interface TreeSource {
  /** One folder; `""` is the root. */
  load: (path: string, signal?: AbortSignal) => Promise<Tree>;
  key: (path: string) => QueryKey;
}

interface Props {
  label: string;
  source: TreeSource;
  /** Folders that are open. */
  open: ReadonlySet<string>;
  onToggle: (path: string) => void;
  selected: string | null;
  onSelect: (path: string) => void;
}

const ICONS: Record<string, IconName> = { image: "image", table: "columns", onnx: "model", json: "code", text: "log" };

/** Folders and files; a folder is asked for when it is opened. Arrow keys move, right and left open and close. */
export function TreeView(props: Props) {
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const all = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const button = all[at];
    if (!button) return;
    const isOpen = button.getAttribute("aria-expanded");
    if (event.key === "ArrowDown") all[at + 1]?.focus();
    else if (event.key === "ArrowUp") all[at - 1]?.focus();
    else if (event.key === "ArrowRight" && isOpen === "false") button.click();
    else if (event.key === "ArrowLeft" && isOpen === "true") button.click();
    else return;
    event.preventDefault();
  };
  return (
    <nav className={styles.tree} aria-label={props.label} onKeyDown={press} data-testid="files-tree">
      <Folder {...props} path="" depth={0} />
    </nav>
  );
}

function Folder(props: Props & { path: string; depth: number }) {
  const { source, path, depth, open, onToggle, selected, onSelect } = props;
  const asked = useQuery({ queryKey: source.key(path), queryFn: ({ signal }) => source.load(path, signal), placeholderData: (before) => before });
  if (!asked.data) return asked.error ? <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} /> : <Skeleton lines={depth ? 1 : 5} />;
  const indent = { paddingLeft: `${0.5 + depth * 1}rem` };
  return (
    <ul>
      {asked.data.folders.map((folder) => {
        const isOpen = open.has(folder.path);
        return (
          <li key={folder.path}>
            <button type="button" style={indent} aria-expanded={isOpen} onClick={() => onToggle(folder.path)} data-row={folder.path}>
              <Icon name={isOpen ? "down" : "right"} size={12} />
              <Icon name="folder" />
              <span className={styles.label}>{folder.name}</span>
              <small title={formatBytes(folder.bytes)}>{plural(folder.files, "file")}</small>
            </button>
            {isOpen && <Folder {...props} path={folder.path} depth={depth + 1} />}
          </li>
        );
      })}
      {asked.data.files.map((file) => (
        <li key={file.path}>
          <button type="button" style={{ paddingLeft: `${1.75 + depth}rem` }} aria-current={file.path === selected} onClick={() => onSelect(file.path)} data-row={file.path} title={file.link ? `${file.name} → ${file.link}` : file.name}>
            <Icon name={ICONS[file.preview] ?? "file"} />
            <span className={styles.label}>{file.name}</span>
            <small>{file.link ? "link" : formatBytes(file.size)}</small>
          </button>
        </li>
      ))}
      {asked.data.more && <li className={styles.note}>There are more here than are listed. The zip has all.</li>}
    </ul>
  );
}
