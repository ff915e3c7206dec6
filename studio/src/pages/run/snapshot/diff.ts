/** A unified diff as lines with their numbers on both sides, and what changed in all. No React. */

export interface DiffLine {
  kind: "added" | "removed" | "head" | "same";
  text: string;
  old: number | null;
  new: number | null;
}

/** The file's own head (`---`, `+++`) is left out: its name stands above. */
export function diffLines(unified: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInside = false;
  for (const line of unified.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInside = true;
      lines.push({ kind: "head", text: line, old: null, new: null });
    } else if (!isInside) continue;
    else if (line.startsWith("+")) lines.push({ kind: "added", text: line.slice(1), old: null, new: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text: line.slice(1), old: before++, new: null });
    else if (line.startsWith("\\")) lines.push({ kind: "head", text: line.slice(2), old: null, new: null });
    else lines.push({ kind: "same", text: line.slice(1), old: before++, new: after++ });
  }
  return lines;
}

export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
  return { added: lines.filter((line) => line.kind === "added").length, removed: lines.filter((line) => line.kind === "removed").length };
}

const WORDS: Record<string, string> = { added: "new", removed: "removed", changed: "changed", mode: "mode changed" };

export function changeWord(change: string): string {
  return WORDS[change] ?? change;
}
