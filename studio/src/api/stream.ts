/** The keeper's event stream: comes back by itself, goes on where it stopped, and says how it is. No React in here. */

export type Kind = "status" | "log" | "metric" | "run" | "warning" | "artifact" | "compute" | "environment" | "model" | "dataset" | "draft" | "endpoint" | "trial";

export interface StreamEvent {
  kind: Kind;
  seq: number;
  data: Record<string, unknown> & { run?: string };
}

/** live: events come. connecting: for the first time. away: not now; asked again soon, and pages poll meanwhile. */
export type Connection = "connecting" | "live" | "away";

export interface Source {
  close(): void;
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  addEventListener(kind: string, listener: (event: { data: string; lastEventId: string }) => void): void;
}

export interface StreamOptions {
  /** The address, given the number of the last event that was seen (null: from now on). */
  url: (after: number | null) => string;
  kinds: readonly Kind[];
  onEvent: (event: StreamEvent) => void;
  onState: (state: Connection) => void;
  /** The number to begin after, where one is known; else from now on. */
  after?: number | null;
  open?: (url: string) => Source;
  random?: () => number;
}

export const FIRST_DELAY_MS = 500;
export const LONGEST_DELAY_MS = 15_000;
/** The keeper says something every 15 s; browsers do not tell scripts, so this only guards against an opening that never ends. */
export const OPEN_TIMEOUT_MS = 20_000;

export class EventStream {
  private source: Source | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private failures = 0;
  private last: number | null;
  private isClosed = false;

  constructor(private readonly options: StreamOptions) {
    this.last = options.after ?? null;
  }

  start(): void {
    if (!this.isClosed && (this.source || this.timer !== null)) return; // it runs
    this.isClosed = false;
    this.options.onState("connecting");
    this.connect();
  }

  stop(): void {
    this.isClosed = true;
    this.drop();
  }

  /** At once, not when the pause is over: the page has come back to the front, or the network is there again. */
  retryNow(): void {
    if (this.isClosed || (this.source && this.failures === 0)) return;
    this.drop();
    this.connect();
  }

  get lastSeq(): number | null {
    return this.last;
  }

  private connect(): void {
    const open = this.options.open ?? ((url: string) => new EventSource(url) as unknown as Source);
    const source = open(this.options.url(this.last));
    this.source = source;
    this.timer = setTimeout(() => this.failed(source), OPEN_TIMEOUT_MS);
    source.onopen = () => {
      if (source !== this.source) return;
      this.clearTimer();
      this.failures = 0;
      this.options.onState("live");
    };
    // Never left to the browser: it gives up for good on a status that is not 200, as a proxy sends while the keeper starts.
    source.onerror = () => this.failed(source);
    for (const kind of this.options.kinds) {
      source.addEventListener(kind, (event) => this.take(source, kind, event));
    }
  }

  private take(source: Source, kind: Kind, event: { data: string; lastEventId: string }): void {
    if (source !== this.source) return;
    const seq = Number(event.lastEventId);
    if (Number.isFinite(seq)) {
      if (this.last !== null && seq <= this.last) return; // told before the connection broke
      this.last = seq;
    }
    this.options.onEvent({ kind, seq, data: JSON.parse(event.data) as StreamEvent["data"] });
  }

  private failed(source: Source): void {
    if (source !== this.source || this.isClosed) return;
    this.drop();
    this.failures += 1;
    this.options.onState("away");
    const pause = Math.min(FIRST_DELAY_MS * 2 ** (this.failures - 1), LONGEST_DELAY_MS);
    // Spread, so that all pages do not come back in the same moment.
    this.timer = setTimeout(() => this.connect(), pause * (0.5 + (this.options.random ?? Math.random)() / 2));
  }

  private drop(): void {
    this.clearTimer();
    this.source?.close();
    this.source = null;
  }

  private clearTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
