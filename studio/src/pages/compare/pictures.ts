/** Which pictures runs have in common: those that were logged, and files of the same name in their outputs. No React. */

export interface PictureRow {
  key: string;
  label: string;
  kind: "logged" | "file";
  /** How many each run has, in the order of the runs; 0 where it has none. */
  totals: number[];
}

export interface Had {
  metrics: readonly { name: string; kind: string; total: number }[];
  files: readonly { path: string; preview: string }[];
}

/** What most runs have comes first. */
export function pictureRows(runs: readonly Had[]): PictureRow[] {
  const rows = new Map<string, PictureRow>();
  const put = (kind: PictureRow["kind"], label: string, place: number, total: number) => {
    const key = `${kind}:${label}`;
    const row = rows.get(key) ?? { key, label, kind, totals: runs.map(() => 0) };
    row.totals[place] = total;
    rows.set(key, row);
  };
  runs.forEach((run, place) => {
    for (const metric of run.metrics) if (metric.kind === "image") put("logged", metric.name, place, metric.total);
    for (const file of run.files) if (file.preview === "image") put("file", file.path, place, 1);
  });
  const having = (row: PictureRow) => row.totals.filter((total) => total > 0).length;
  return [...rows.values()].sort((a, b) => having(b) - having(a));
}

/** The last one at most; before the first is the last one too, which is what one wants to see. */
export function pictureAt(total: number, wanted: number | null): number {
  return wanted === null ? total - 1 : Math.max(0, Math.min(total - 1, wanted));
}
