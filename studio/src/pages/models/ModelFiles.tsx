import { useQuery } from "@tanstack/react-query";
import { call, urlOf } from "@/api/client";
import { keys } from "@/api/query";
import type { Model } from "@/api/types";
import { Card } from "@/components/Card";
import { ErrorNotice } from "@/components/ErrorNotice";
import { formatBytes } from "@/components/format";
import { Icon } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { FilePreview } from "@/pages/run/files/FilePreview";
import { Link } from "@/router/Link";
import { useSearch } from "@/router/location";
import styles from "./Models.module.css";

/** The files of a version; one of them as what it is. Which one is in the address. */
export function ModelFiles({ model }: { model: Model }) {
  const [search] = useSearch();
  const start = model.files.find((file) => file.path.endsWith(".onnx"))?.path ?? null;
  const shown = search.get("file") ?? start;
  const here = `/models/${encodeURIComponent(model.name)}?version=${model.version}`;
  if (model.files.length === 0) return null;
  return (
    <Card title="Files" testId="model-files">
      <ul className={styles.files} tabIndex={0} aria-label="Files of this version">
        {model.files.map((file) => (
          <li key={file.path} data-row={file.path}>
            <Link to={`${here}&file=${encodeURIComponent(file.path)}`} aria-current={file.path === shown || undefined}>
              {file.path}
            </Link>
            <span className={styles.about}>{formatBytes(file.size)}</span>
            <a href={urlOf("get_model_file", { name: model.name, version: model.version, path: file.path })} download={file.path.split("/").pop()} aria-label={`Download ${file.path}`} title={`Download ${file.path}`}>
              <Icon name="download" />
            </a>
          </li>
        ))}
      </ul>
      {shown && <Shown key={shown} model={model} path={shown} />}
    </Card>
  );
}

function Shown({ model, path }: { model: Model; path: string }) {
  const asked = useQuery({
    queryKey: keys.models("preview", model.name, model.version, path),
    queryFn: ({ signal }) => call("preview_model_file", { path: { name: model.name, version: model.version, path }, signal }),
    staleTime: Infinity, // a version's files never change
  });
  return (
    <div className={styles.preview} data-testid="model-preview">
      {asked.isPending && <Skeleton lines={5} />}
      {!asked.data && asked.error && <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.data && <FilePreview preview={asked.data} picture={urlOf("get_model_picture", { name: model.name, version: model.version, path })} />}
    </div>
  );
}
