/** Large pictures made small in the browser: a few at a time, and only while somebody is looking. No React. */

const AT_ONCE = 3; // a browser has six connections to a server; the page's own questions need some

/** Jobs one after the other, so many at once. Who is aborted while waiting never begins. */
export class Line {
  private waiting: (() => void)[] = [];
  private under = 0;

  constructor(private readonly most: number) {}

  async take<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T> {
    while (this.under >= this.most) {
      await this.turn(signal);
      if (signal.aborted) this.waiting.shift()?.(); // it may have been its turn
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    this.under += 1;
    try {
      return await job();
    } finally {
      this.under -= 1;
      this.waiting.shift()?.();
    }
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.waiting = this.waiting.filter((each) => each !== go);
        resolve();
      };
      this.waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}

const line = new Line(AT_ONCE);

/** The address of a small one, to be revoked by whoever asked. */
export function smallPicture(url: string, signal: AbortSignal): Promise<string> {
  return line.take(async () => {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`${response.status}`);
    return URL.createObjectURL(await reduce(await response.blob()));
  }, signal);
}

type Waiting = { resolve: (small: Blob) => void; reject: (error: Error) => void };
const waiting = new Map<number, Waiting>();
let worker: Worker | null = null;
let last = 0;

/** Decoded and scaled by a thread of its own: on the page's it would stop the scrolling for each of them. */
function reduce(picture: Blob): Promise<Blob> {
  worker ??= start();
  const id = (last += 1);
  worker.postMessage({ id, picture });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function start(): Worker {
  const made = new Worker(new URL("./small.worker.ts", import.meta.url), { type: "module" });
  made.onmessage = ({ data }: MessageEvent<{ id: number; small: Blob | null }>) => {
    const found = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.small) found?.resolve(data.small);
    else found?.reject(new Error("no picture"));
  };
  made.onerror = () => {
    for (const { reject } of waiting.values()) reject(new Error("no worker"));
    waiting.clear();
    worker = null;
  };
  return made;
}
