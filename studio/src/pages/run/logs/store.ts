/** The lines of one log, as far as they are here: loaded in pieces as they come into sight, forgotten when they are far away. No React. */

export interface Lines {
  start: number;
  lines: string[];
  total: number;
  size: number;
}

/** Lines [start, start + limit); a negative start counts from the end. Fewer may come. */
export type Read = (start: number, limit: number) => Promise<Lines>;

export const PIECE = 500;
const KEPT = 80; // pieces
const AT_ONCE = 3; // requests

export class LogStore {
  total = 0;
  size = 0;
  error: unknown = null;
  isLoaded = false;
  /** Grows with every change, so that React notices. */
  version = 0;
  private readonly pieces = new Map<number, (string | undefined)[]>();
  private readonly asked = new Set<number>();
  private readonly listeners = new Set<() => void>();
  private wanted: [first: number, end: number] = [0, 0];
  private refreshing: Promise<void> | null = null;
  private isStale = false;
  private isClosed = false;

  constructor(private readonly read: Read) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly line = (index: number): string | undefined => this.pieces.get(Math.floor(index / PIECE))?.[index % PIECE];

  /** These are in sight: what is missing of them is loaded, and nothing else any more. */
  readonly need = (first: number, end: number): void => {
    this.wanted = [first, end];
    this.load();
  };

  /** The end has changed, or nothing is here yet: asks for what follows the last line that is known. Calls that come meanwhile are one. */
  refresh(): Promise<void> {
    if (this.refreshing) {
      this.isStale = true;
      return this.refreshing;
    }
    this.refreshing = this.readEnd().finally(() => {
      this.refreshing = null;
      if (!this.isStale || this.isClosed) return;
      this.isStale = false;
      void this.refresh();
    });
    return this.refreshing;
  }

  close(): void {
    this.isClosed = true;
    this.listeners.clear();
  }

  private async readEnd(): Promise<void> {
    try {
      // The last line may have been half a line: it is read again.
      this.take(this.isLoaded ? await this.read(Math.max(0, this.total - 1), PIECE * 2) : await this.read(-PIECE, PIECE));
    } catch (error) {
      this.fail(error);
    }
  }

  private load(): void {
    const [first, end] = this.wanted;
    for (let piece = Math.floor(first / PIECE); piece * PIECE < end && this.asked.size < AT_ONCE; piece += 1) {
      const from = this.firstMissing(piece);
      if (from === null || this.asked.has(piece)) continue;
      this.asked.add(piece);
      this.read(from, (piece + 1) * PIECE - from)
        .then((lines) => {
          // Asking again at once would go on for ever.
          if (lines.lines.length === 0) throw new Error("The keeper sent no lines of this log.");
          this.take(lines);
        })
        .catch((error: unknown) => this.fail(error))
        .finally(() => {
          this.asked.delete(piece);
          if (!this.isClosed && this.error === null) this.load();
        });
    }
  }

  private firstMissing(piece: number): number | null {
    const known = this.pieces.get(piece);
    const end = Math.min((piece + 1) * PIECE, this.total);
    for (let index = piece * PIECE; index < end; index += 1) if (known?.[index % PIECE] === undefined) return index;
    return null;
  }

  private take(found: Lines): void {
    if (this.isClosed) return;
    found.lines.forEach((text, at) => {
      const index = found.start + at;
      const piece = Math.floor(index / PIECE);
      const lines = this.pieces.get(piece) ?? [];
      lines[index % PIECE] = text;
      this.pieces.set(piece, lines);
    });
    this.total = Math.max(this.total, found.total);
    this.size = Math.max(this.size, found.size);
    this.isLoaded = true;
    this.error = null;
    this.forget();
    this.tell();
  }

  private fail(error: unknown): void {
    if (this.isClosed) return;
    this.error = error;
    this.tell();
  }

  /** Far from what is in sight goes first. */
  private forget(): void {
    if (this.pieces.size <= KEPT) return;
    const middle = (this.wanted[0] + this.wanted[1]) / 2 / PIECE;
    const far = [...this.pieces.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const piece of far.slice(0, this.pieces.size - KEPT)) this.pieces.delete(piece);
  }

  private tell(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}
