import { describe, expect, it, vi } from "vitest";
import { LogStore, PIECE, type Lines } from "./store";

/** A log of so many lines; `most` is how many come at once. */
function fake(total: { now: number }, most = Infinity) {
  return vi.fn(async (start: number, limit: number): Promise<Lines> => {
    const first = Math.min(total.now, start < 0 ? Math.max(0, total.now + start) : start);
    const count = Math.min(limit, most, total.now - first);
    return { start: first, lines: Array.from({ length: count }, (_, at) => `line ${first + at}`), total: total.now, size: total.now * 10 };
  });
}
const settled = () => vi.waitFor(() => new Promise((resolve) => setTimeout(resolve, 5)));

describe("LogStore", () => {
  it("begins with the end, and loads what comes into sight", async () => {
    const read = fake({ now: 1_000_000 });
    const store = new LogStore(read);
    await store.refresh();
    expect([store.total, store.line(999_999), store.line(0)]).toEqual([1_000_000, "line 999999", undefined]);
    store.need(490, 520);
    await settled();
    expect([store.line(490), store.line(519)]).toEqual(["line 490", "line 519"]);
    expect(read.mock.calls.length).toBe(3);
    store.need(490, 520);
    await settled();
    expect(read.mock.calls.length).toBe(3);
  });

  it("reads the last line again, because it may have been half of one", async () => {
    const total = { now: 3 };
    const read = fake(total);
    const store = new LogStore(read);
    await store.refresh();
    total.now = 5;
    await store.refresh();
    expect(read.mock.lastCall?.[0]).toBe(2);
    expect([store.total, store.line(4)]).toEqual([5, "line 4"]);
  });

  it("goes on where an answer was cut off", async () => {
    const store = new LogStore(fake({ now: 2 * PIECE }, 100));
    await store.refresh();
    store.need(0, PIECE);
    await vi.waitFor(() => expect(store.line(PIECE - 1)).toBe(`line ${PIECE - 1}`));
  });

  it("forgets what is far away, and asks for it again", async () => {
    const read = fake({ now: 1_000_000 });
    const store = new LogStore(read);
    await store.refresh();
    for (let at = 0; at < 200; at += 1) {
      store.need(at * PIECE, at * PIECE + 10);
      await settled();
    }
    expect(store.line(0)).toBeUndefined();
    store.need(0, 10);
    await vi.waitFor(() => expect(store.line(0)).toBe("line 0"));
  });

  it("does not ask for what was scrolled past", async () => {
    const read = fake({ now: 1_000_000 });
    const store = new LogStore(read);
    await store.refresh();
    for (let at = 0; at < 100; at += 1) store.need(at * 5000, at * 5000 + 40);
    await settled();
    expect(read.mock.calls.length).toBeLessThan(10);
    expect(store.line(99 * 5000)).toBe(`line ${99 * 5000}`);
  });

  it("says what failed, stops asking, and goes on when asked", async () => {
    let isAway = true;
    const good = fake({ now: 10 });
    const store = new LogStore((start, limit) => (isAway ? Promise.reject(new Error("away")) : good(start, limit)));
    await store.refresh();
    expect(store.error).toEqual(new Error("away"));
    isAway = false;
    await store.refresh();
    expect([store.error, store.total]).toEqual([null, 10]);
  });

  it("answers many calls with one request more", async () => {
    const read = fake({ now: 10 });
    const store = new LogStore(read);
    const changes = vi.fn();
    store.subscribe(changes);
    await Promise.all([store.refresh(), store.refresh(), store.refresh()]);
    await settled();
    expect(read).toHaveBeenCalledTimes(2);
    expect(changes).toHaveBeenCalledTimes(2);
  });
});
