import { useMemo } from "react";
import type { DiffFile } from "@/api/types";
import { formatBytes } from "@/components/format";
import { Icon } from "@/components/Icon";
import { LineView } from "@/components/LineView";
import { inColour } from "../files/HighlightedLines";
import { highlight, languageOf } from "../files/highlight";
import { changeWord, countChanges, diffLines, type DiffLine } from "./diff";
import styles from "./Snapshot.module.css";

/** One file of the comparison: what is new in it and what is gone. Closes on its name. */
export function DiffFileCard({ file, isOpen, onToggle }: { file: DiffFile; isOpen: boolean; onToggle: () => void }) {
  const lines = useMemo(() => diffLines(file.diff ?? ""), [file.diff]);
  const { added, removed } = countChanges(lines);
  return (
    <section className={styles.file} data-testid="diff-file" data-row={file.path} aria-label={file.path}>
      <h2>
        <button type="button" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={isOpen ? "down" : "right"} size={12} />
          <span className={styles.path}>{file.path}</span>
          <span className={styles.change} data-change={file.change}>
            {changeWord(file.change)}
          </span>
          {added > 0 && <span className={styles.plus}>+{added}</span>}
          {removed > 0 && <span className={styles.minus}>−{removed}</span>}
        </button>
      </h2>
      {isOpen && (lines.length > 0 ? <Lines file={file} lines={lines} /> : <p className={styles.why}>{file.why ?? sizes(file)}</p>)}
      {isOpen && file.cut && <p className={styles.why}>The rest of this file is left out: it is long.</p>}
    </section>
  );
}

function Lines({ file, lines }: { file: DiffFile; lines: readonly DiffLine[] }) {
  const language = languageOf(file.path);
  const width = `${String(Math.max(...lines.map((line) => Math.max(line.old ?? 0, line.new ?? 0)))).length + 1}ch`;
  return (
    <LineView
      label={`Changes of ${file.path}`}
      count={lines.length}
      line={(index) => lines[index]?.text}
      tone={(index) => toneOf(lines[index])}
      hasNumbers={false}
      maxHeight="60vh"
      render={(index, text) => {
        const line = lines[index] as DiffLine;
        return (
          <span className={styles.line}>
            <span className={styles.number} style={{ width }} aria-hidden="true">
              {line.old}
            </span>
            <span className={styles.number} style={{ width }} aria-hidden="true">
              {line.new}
            </span>
            <span className={styles.sign}>{SIGNS[line.kind]}</span>
            {line.kind === "same" ? inColour(highlight(text, language)[0] ?? []) : text || "\u200b"}
          </span>
        );
      }}
    />
  );
}

const SIGNS = { added: "+", removed: "−", head: "", same: "" };

function toneOf(line: DiffLine | undefined): "added" | "removed" | "head" | undefined {
  return !line || line.kind === "same" ? undefined : line.kind;
}

function sizes(file: DiffFile): string {
  if (file.old_size === null) return `A new file of ${formatBytes(file.new_size)}.`;
  if (file.new_size === null) return `It had ${formatBytes(file.old_size)}.`;
  return `${formatBytes(file.old_size)} before, ${formatBytes(file.new_size)} now.`;
}
