/** What somebody drops or picks, as one upload: a zip as it is, or files and folders as a pack. No React. */

export interface Item {
  /** Below what was dropped; an empty folder ends with a slash and has no file. */
  path: string;
  file: File | null;
}

export interface Chosen {
  items: Item[];
  /** It is this zip, to be unpacked by the keeper. */
  zip: File | null;
  /** What a data set of it might be called. */
  name: string;
  files: number;
  bytes: number;
  /** Files of the operating system that nobody means. */
  left: number;
}

const LEFT = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

/** Of a drop. Entries must be asked for before the event is over, so this begins at once. */
export function readDrop(transfer: DataTransfer): Promise<Chosen> {
  const entries = [...transfer.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry() : null)).filter((entry) => entry !== null);
  return readEntries(entries);
}

export async function readEntries(entries: readonly FileSystemEntry[]): Promise<Chosen> {
  const items: Item[] = [];
  for (const entry of entries) await walk(entry, "", items);
  return chosenOf(items);
}

/** Of a file field; with `webkitdirectory` files know their folder. */
export function readPicked(files: Iterable<File>): Chosen {
  return chosenOf([...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

export function chosenOf(all: readonly Item[]): Chosen {
  const items = all.filter(({ path }) => !LEFT.has(path.slice(path.lastIndexOf("/") + 1)));
  const files = items.filter((item) => item.file !== null);
  const only = items.length === 1 ? (items[0]?.file ?? null) : null;
  const zip = only && /\.zip$/i.test(only.name) ? only : null;
  return {
    items,
    zip,
    name: suggestName(items),
    files: files.length,
    bytes: files.reduce((sum, { file }) => sum + (file?.size ?? 0), 0),
    left: all.length - items.length,
  };
}

/** `{"path", "size"}` as a line, then so many bytes, again and again (docs/inside/protocol.md). Files are named, not read. */
export function packOf(items: readonly Item[]): Blob {
  const parts: BlobPart[] = [];
  for (const { path, file } of items) {
    parts.push(`${JSON.stringify({ path, size: file?.size ?? 0 })}\n`);
    if (file) parts.push(file);
  }
  return new Blob(parts);
}

/** The folder's name, or the only file's without its ending: what names of data sets bear of it. */
export function suggestName(items: readonly Item[]): string {
  const tops = new Set(items.map(({ path }) => path.split("/")[0] ?? ""));
  if (tops.size !== 1) return "";
  const [top = ""] = tops;
  const isFolder = items.some(({ path }) => path.includes("/"));
  return cleanName(isFolder ? top : top.replace(/\.(zip|[a-z0-9]{1,8})$/i, ""));
}

export function cleanName(text: string): string {
  return text.replace(/[/\\:\p{C}]+/gu, " ").trim().slice(0, 255);
}

/** Names of data sets: the keeper has the last word, this is so that the form can say it first. */
export function nameProblem(name: string): string | null {
  if (!name.trim()) return "Give it a name.";
  if (/[/\\:]/.test(name)) return "A name has no '/', '\\' or ':'.";
  if (name.length > 255) return "255 characters at most.";
  return name === "." || name === ".." ? "Choose another name." : null;
}

async function walk(entry: FileSystemEntry, above: string, into: Item[]): Promise<void> {
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  let count = 0;
  for (;;) {
    // Browsers give a hundred at a time, and an empty list at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    count += some.length;
    for (const each of some) await walk(each, `${path}/`, into);
  }
  if (count === 0) into.push({ path: `${path}/`, file: null });
}
