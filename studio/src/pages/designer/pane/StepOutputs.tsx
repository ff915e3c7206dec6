import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, urlOf } from "@/api/client";
import { EmptyState } from "@/components/EmptyState";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes, plural } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { isOver } from "@/components/StatusPill";
import { Thumb } from "@/components/Thumb";
import { PictureDialog } from "@/pages/data/PictureDialog";
import { FilePreview } from "@/pages/run/files/FilePreview";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import styles from "../Designer.module.css";
import { cardOf, type Catalog, type Graph } from "../graph/model";
import type { Step, StepOutput } from "../graph/steps";
import { firstFile, modelName, shownFolder } from "../graph/outputs";
import { RegisterOutput } from "./RegisterOutput";

interface Props {
  graph: Graph;
  id: string;
  step: Step | null;
  run: string | null;
  catalog: Catalog;
}

/** What a module has made, port by port: pictures as pictures, tables as tables, everything else as files. */
export function StepOutputs({ graph, id, step, run, catalog }: Props) {
  const outputs = Object.entries(step?.outputs ?? {}).filter(([, output]) => typeof output.manifest_id === "string");
  if (outputs.length === 0) {
    const isLive = step !== null && !isOver(step.status);
    return (
      <EmptyState icon="folder" title={isLive ? "Nothing yet" : "It has left nothing"}>
        <p>{isLive ? "What it makes can be looked at here as soon as it is done." : step ? "It did not get to the end; its log says how far it came." : "This is not run: it is data that others read."}</p>
      </EmptyState>
    );
  }
  const card = cardOf(graph.nodes[id], catalog);
  return (
    <>
      {outputs.map(([port, output], index) => {
        const about = card?.outputs.find((each) => each.name === port);
        return <Output key={port} port={port} label={about?.label ?? port} type={about?.types[0] ?? ""} output={output} run={step?.reused_from ?? run} suggested={modelName(graph.name)} isAlone={outputs.length === 1} isFirst={index === 0} />;
      })}
      {run && (
        <p className={styles.about}>
          Files that it wrote besides, and its logs, are on <Link to={`/runs/${encodeURIComponent(run)}?tab=outputs`}>its run&apos;s page</Link>.
        </p>
      )}
    </>
  );
}

const PICTURES = 24;

function Output({ port, label, type, output, run, suggested, isAlone, isFirst }: { port: string; label: string; type: string; output: StepOutput; run: string | null; suggested: string; isAlone: boolean; isFirst: boolean }) {
  const [search, change] = useSearch();
  const manifest = String(output.manifest_id);
  const isOpen = isAlone || (search.get("port") ?? (isFirst ? port : "")) === port;
  return (
    <section data-testid="designer-output" data-port={port}>
      <h3 className={styles.section}>
        {isAlone ? (
          label
        ) : (
          <button type="button" className={styles.item} aria-expanded={isOpen} onClick={() => change({ port: isOpen ? "-" : port, file: null, folder: null })}>
            <Icon name={isOpen ? "down" : "right"} />
            <span>{label}</span>
            <small>{type}</small>
          </button>
        )}
      </h3>
      {isOpen && (
        <>
          <p className={styles.about}>
            {type && `${type}, `}
            {plural(Number(output.files ?? 0), "file")}, {formatBytes(Number(output.bytes ?? 0))}
          </p>
          <RegisterOutput output={output} type={type} run={run} port={port} suggested={suggested} />
          <Folder manifest={manifest} type={type} />
        </>
      )}
    </section>
  );
}

/** One folder of it: its pictures, its files, and the one that says most shown at once. */
function Folder({ manifest, type }: { manifest: string; type: string }) {
  const [search, change] = useSearch();
  // "-" is the topmost folder, where another one would be shown by itself.
  const told = search.get("folder") ?? shownFolder(type);
  const folder = told === "-" ? "" : told;
  const asked = useQuery({ queryKey: ["manifest", manifest, folder], queryFn: ({ signal }) => call("list_manifest_folder", { path: { manifest_id: manifest }, query: { path: folder, limit: 500 }, signal }), staleTime: Infinity, retry: false });
  const [enlarged, setEnlarged] = useState<string | null>(null);
  if (asked.isPending) return <Skeleton lines={4} />;
  if (!asked.data) return folder ? <Up onUp={() => change({ folder: "-" })} error={asked.error} /> : <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  const pictures = asked.data.entries.filter((entry) => entry.is_picture);
  const others = asked.data.entries.filter((entry) => !entry.is_picture);
  const file = search.get("file") ?? firstFile(type, others.filter((entry) => !entry.is_folder).map((entry) => entry.path));
  const picture = (path: string) => urlOf("get_manifest_picture", { manifest_id: manifest, path });
  return (
    <>
      {pictures.length > 0 && (
        <ul className={styles.pictures} aria-label="Pictures" data-testid="designer-pictures">
          {pictures.slice(0, PICTURES).map((entry) => (
            <li key={entry.path}>
              <button type="button" className={styles.thumbButton} onClick={() => setEnlarged(entry.path)} title={entry.name}>
                <Thumb source={picture(entry.path)} bytes={entry.bytes} />
                <span>{entry.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {pictures.length > PICTURES && (
        <p className={styles.about}>
          {PICTURES} of {asked.data.pictures} pictures.
        </p>
      )}
      <ul className={styles.items} aria-label="Files">
        {folder && (
          <li>
            <button type="button" className={styles.item} onClick={() => change({ folder: folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "-", file: null })}>
              <Icon name="up" />
              <span>{folder}</span>
            </button>
          </li>
        )}
        {others.map((entry) => (
          <li key={entry.path}>
            <button type="button" className={styles.item} aria-current={entry.path === file || undefined} onClick={() => change(entry.is_folder ? { folder: entry.path, file: null } : { file: entry.path })} data-row={entry.path}>
              <Icon name={entry.is_folder ? "folder" : "file"} />
              <span>{entry.name}</span>
              <small>{entry.is_folder ? plural(entry.files ?? 0, "file") : formatBytes(entry.bytes)}</small>
            </button>
          </li>
        ))}
      </ul>
      {file && <Preview key={file} manifest={manifest} path={file} index={asked.data.entries.find((entry) => entry.path === file)?.index} picture={picture(file)} />}
      {enlarged && <PictureDialog path={enlarged} all={pictures.map((entry) => entry.path)} url={(path) => picture(path)} onShow={setEnlarged} onClose={() => setEnlarged(null)} />}
    </>
  );
}

function Up({ onUp, error }: { onUp: () => void; error: unknown }) {
  return <ErrorNotice error={error} onRetry={onUp} />;
}

function Preview({ manifest, path, index, picture }: { manifest: string; path: string; index: number | null | undefined; picture: string }) {
  const asked = useQuery({ queryKey: ["manifest", manifest, "preview", path], queryFn: ({ signal }) => call("preview_manifest_file", { path: { manifest_id: manifest, path }, signal }), staleTime: Infinity });
  return (
    <section aria-label={path} data-testid="designer-file">
      <h4 className={styles.section}>
        {path}{" "}
        {index !== null && index !== undefined && (
          <a href={urlOf("get_manifest_file", { manifest_id: manifest, index })} download={path.split("/").pop()} aria-label={`Download ${path}`}>
            <Icon name="download" size={14} />
          </a>
        )}
      </h4>
      {asked.isPending && <Skeleton lines={6} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && <FilePreview preview={asked.data} picture={picture} />}
    </section>
  );
}
