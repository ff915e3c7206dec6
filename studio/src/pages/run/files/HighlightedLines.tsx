import { useMemo, type ReactNode } from "react";
import { LineView } from "@/components/LineView";
import { highlight, languageOf, toLines, type Piece } from "./highlight";
import styles from "./Files.module.css";

/** A text file with its words in colour. */
export function HighlightedLines({ text, name, maxHeight = "70vh" }: { text: string; name: string; maxHeight?: string }) {
  const lines = useMemo(() => toLines(text), [text]);
  const coloured = useMemo(() => highlight(text, languageOf(name)), [text, name]);
  return <LineView label={`Text of ${name}`} count={lines.length} line={(index) => lines[index]} render={(index) => inColour(coloured[index] ?? [])} maxHeight={maxHeight} testId="file-text" />;
}

export function inColour(pieces: readonly Piece[]): ReactNode {
  if (pieces.length === 0) return "\u200b";
  return pieces.map(([kind, text], index) => (kind === "plain" ? text : <span key={index} className={styles[kind]}>{text}</span>));
}
