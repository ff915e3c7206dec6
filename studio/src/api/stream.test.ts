import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventStream, LONGEST_DELAY_MS, OPEN_TIMEOUT_MS, type Connection, type Source, type StreamEvent } from "./stream";

class FakeSource implements Source {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  isClosed = false;
  private listeners = new Map<string, (event: { data: string; lastEventId: string }) => void>();
  constructor(readonly url: string) {}
  addEventListener(kind: string, listener: (event: { data: string; lastEventId: string }) => void) {
    this.listeners.set(kind, listener);
  }
  close() {
    this.isClosed = true;
  }
  tell(kind: string, seq: number, data: object = {}) {
    this.listeners.get(kind)?.({ data: JSON.stringify(data), lastEventId: String(seq) });
  }
}

let sources: FakeSource[];
let states: Connection[];
let events: StreamEvent[];

function make() {
  return new EventStream({
    url: (after) => `events?after=${after}`,
    kinds: ["status", "run"],
    onEvent: (event) => events.push(event),
    onState: (state) => states.push(state),
    open: (url) => {
      const made = new FakeSource(url);
      sources.push(made);
      return made;
    },
    random: () => 1,
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  [sources, states, events] = [[], [], []];
});
afterEach(() => vi.useRealTimers());

describe("EventStream", () => {
  it("goes on where it stopped when the keeper comes back", () => {
    make().start();
    sources[0]?.onopen?.();
    sources[0]?.tell("status", 41, { run: "r" });
    sources[0]?.onerror?.();
    expect(sources[0]?.isClosed).toBe(true);
    vi.advanceTimersByTime(500);
    expect(sources[1]?.url).toBe("events?after=41");
    sources[1]?.onopen?.();
    expect(states).toEqual(["connecting", "live", "away", "live"]);
  });
  it("begins after the event that it is given", () => {
    const stream = new EventStream({ url: (after) => `events?after=${after}`, kinds: ["status"], onEvent: (event) => events.push(event), onState: () => undefined, after: 7, open: (url) => (sources.push(new FakeSource(url)), sources[0] as FakeSource) });
    stream.start();
    expect(sources[0]?.url).toBe("events?after=7");
    sources[0]?.tell("status", 7);
    sources[0]?.tell("status", 8);
    expect(events.map((event) => event.seq)).toEqual([8]);
  });
  it("tells no event twice", () => {
    make().start();
    sources[0]?.tell("status", 5);
    sources[0]?.tell("run", 5);
    sources[0]?.tell("run", 4);
    sources[0]?.tell("run", 6);
    expect(events.map((event) => event.seq)).toEqual([5, 6]);
  });
  it("waits longer from try to try, but never for ever", () => {
    make().start();
    for (let count = 0; count < 12; count += 1) {
      sources.at(-1)?.onerror?.();
      vi.advanceTimersByTime(LONGEST_DELAY_MS);
      expect(sources.length).toBe(count + 2);
    }
    const before = sources.length;
    sources.at(-1)?.onerror?.();
    vi.advanceTimersByTime(LONGEST_DELAY_MS - 100);
    expect(sources.length).toBe(before);
  });
  it("gives up an opening that never ends", () => {
    make().start();
    vi.advanceTimersByTime(OPEN_TIMEOUT_MS);
    expect(states.at(-1)).toBe("away");
  });
  it("is quiet once it was stopped, and can be started again", () => {
    const stream = make();
    stream.start();
    stream.start();
    expect(sources.length).toBe(1);
    stream.stop();
    sources[0]?.onerror?.();
    vi.advanceTimersByTime(60_000);
    expect(sources.length).toBe(1);
    stream.start();
    expect(sources.length).toBe(2);
  });
  it("tries at once when it is asked to", () => {
    const stream = make();
    stream.start();
    for (let count = 0; count < 6; count += 1) {
      sources.at(-1)?.onerror?.();
      vi.advanceTimersByTime(LONGEST_DELAY_MS);
    }
    sources.at(-1)?.onerror?.();
    const before = sources.length;
    stream.retryNow();
    expect(sources.length).toBe(before + 1);
  });
});
