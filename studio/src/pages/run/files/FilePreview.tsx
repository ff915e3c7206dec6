import { useMemo, useState, type ReactNode } from "react";
import { parseJson } from "@/api/json";
import type { Preview } from "@/api/types";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/EmptyState";
import { formatBytes, formatCount, formatNumber } from "@/components/format";
import styles from "./Files.module.css";
import { HighlightedLines } from "./HighlightedLines";
import { JsonTree } from "./JsonTree";
import { OnnxView } from "./OnnxView";

interface Props {
  preview: Preview;
  /** Where the picture itself is, for previews of kind `image`; without it pictures are not shown. */
  picture?: string;
}

/** A file as what it is: picture, text, JSON, table, model; or why it cannot be shown. */
export function FilePreview({ preview, picture }: Props) {
  switch (preview.kind) {
    case "text":
      return <Cut preview={preview}>{preview.text ? <HighlightedLines text={preview.text} name={preview.name} /> : <p className="soft">The file is empty.</p>}</Cut>;
    case "json":
      return <JsonFile preview={preview} />;
    case "table":
      return <TableFile preview={preview} />;
    case "image":
      return picture ? <Picture preview={preview} picture={picture} /> : <Nothing why="There is no address to show it from." />;
    case "onnx":
      return preview.model ? <OnnxView model={preview.model} /> : <Nothing why={preview.why} />;
    default:
      return <Nothing why={preview.why} />;
  }
}

function Cut({ preview, children }: { preview: Preview; children: ReactNode }) {
  return (
    <>
      {children}
      {preview.cut && <p className={styles.foot}>Only its beginning is shown, of {formatBytes(preview.size)}. Download it to see all.</p>}
    </>
  );
}

function JsonFile({ preview }: { preview: Preview }) {
  const [isText, setText] = useState(false);
  const parsed = useMemo(() => {
    if (preview.cut || preview.valid === false) return null;
    try {
      return { value: parseJson(preview.text ?? "") };
    } catch {
      return null;
    }
  }, [preview]);
  const text = preview.text ?? "";
  return (
    <Cut preview={preview}>
      {parsed && (
        <div className={styles.bar}>
          <Button variant="quiet" icon="code" aria-pressed={isText} onClick={() => setText(!isText)}>
            {isText ? "As a tree" : "As text"}
          </Button>
        </div>
      )}
      {preview.valid === false && <p className={styles.foot}>It is not valid JSON; this is its text.</p>}
      {parsed && !isText ? <JsonTree value={parsed.value} label={preview.name} /> : <HighlightedLines text={text} name={`${preview.name}.json`} />}
    </Cut>
  );
}

function TableFile({ preview }: { preview: Preview }) {
  const columns = preview.columns ?? [];
  const rows = preview.rows ?? [];
  const total = preview.total_rows;
  return (
    <>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Rows of ${preview.name}`} data-testid="file-table">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">#</th>
              {columns.map((column, index) => (
                <th key={index} scope="col" title={column.why ?? column.type}>
                  {column.name}
                  <small>{column.type}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                <td>{formatCount(index + 1)}</td>
                {columns.map((column, at) => (
                  <td key={at} data-number={typeof row[at] === "number" || undefined}>
                    {column.why ? "…" : cell(row[at])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={styles.foot}>
        {total !== null && total !== undefined && total > rows.length
          ? `The first ${formatCount(rows.length)} of ${formatCount(total)} rows`
          : `${formatCount(rows.length)} rows${preview.cut ? "; there are more" : ""}`}
      </p>
    </>
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return formatNumber(value, 8);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function Picture({ preview, picture }: { preview: Preview; picture: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Nothing why="The browser cannot show this picture." />;
  return (
    <figure className={styles.picture} data-testid="file-picture">
      <a href={picture} target="_blank" rel="noreferrer" aria-label={`${preview.name}, in full`}>
        <img src={picture} alt={preview.name} onError={() => setBroken(true)} />
      </a>
      {preview.width && preview.height && (
        <figcaption>
          {formatCount(preview.width)} × {formatCount(preview.height)} pixels, {preview.content_type}
        </figcaption>
      )}
    </figure>
  );
}

function Nothing({ why }: { why?: string | null }) {
  return (
    <EmptyState icon="file" title="No preview">
      <p>{why || "Nothing is known of this kind of file."} Download it to look at it.</p>
    </EmptyState>
  );
}
