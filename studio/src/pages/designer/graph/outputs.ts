/** What of an output is shown first: the pictures of an image directory, the table of a data frame. Pure. */

/** The folder to begin with; the topmost is "". */
export function shownFolder(type: string): string {
  return type === "ImageDirectory" ? "image" : "";
}

const FIRST = [/\.parquet$/, /\.csv$/, /_transforms\.json$/, /model_spec\.ya?ml$/, /\.onnx$/, /\.json$/, /\.(txt|md|ya?ml)$/];

/** The file that says most of it. Pictures' own lists are not shown by themselves: the pictures are. */
export function firstFile(type: string, paths: readonly string[]): string | null {
  if (type === "ImageDirectory") return null;
  for (const pattern of FIRST) {
    const found = paths.find((path) => pattern.test(path) && !/(^|\/)_(meta|schema|samples)\./.test(path));
    if (found) return found;
  }
  return null;
}
