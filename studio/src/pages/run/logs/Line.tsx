import { classes } from "@/components/classes";
import { toPieces, type Piece } from "./ansi";
import styles from "./Logs.module.css";

/** One line as a terminal would show it, with found text marked. */
export function Line({ text, wanted }: { text: string; wanted: string }) {
  const pieces = toPieces(text, wanted);
  if (pieces.length === 0) return <>{"\u200b"}</>;
  if (pieces.length === 1 && isPlain(pieces[0] as Piece)) return <>{(pieces[0] as Piece).text}</>;
  return (
    <>
      {pieces.map((piece, index) => {
        const name = classes(piece.color && styles[piece.color], piece.isBold && styles.bold, piece.isDim && styles.dim, piece.isItalic && styles.italic, piece.isUnderlined && styles.underlined);
        return piece.isFound ? (
          <mark key={index} className={classes(name, styles.mark)}>
            {piece.text}
          </mark>
        ) : (
          <span key={index} className={name}>
            {piece.text}
          </span>
        );
      })}
    </>
  );
}

function isPlain(piece: Piece): boolean {
  return Object.entries(piece).every(([key, value]) => key === "text" || !value);
}
