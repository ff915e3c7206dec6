import { describe, expect, it } from "vitest";
import { Line } from "./small";

function job(done: string[], name: string) {
  let finish = () => {};
  const run = () =>
    new Promise<void>((resolve) => {
      done.push(`begin ${name}`);
      finish = () => {
        done.push(`end ${name}`);
        resolve();
      };
    });
  return { run, finish: () => finish() };
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("Line", () => {
  it("does so many at once, the rest in turn, and never what was aborted while it waited", async () => {
    const line = new Line(1);
    const done: string[] = [];
    const [a, b, c] = [job(done, "a"), job(done, "b"), job(done, "c")];
    const gone = new AbortController();
    const first = line.take(a.run, new AbortController().signal);
    const second = line.take(b.run, gone.signal);
    const third = line.take(c.run, new AbortController().signal);
    const refused = expect(second).rejects.toThrow();
    gone.abort();
    await refused;
    expect(done).toEqual(["begin a"]);
    a.finish();
    await first;
    await settle();
    c.finish();
    await third;
    expect(done).toEqual(["begin a", "end a", "begin c", "end c"]);
  });
  it("goes on after a failure", async () => {
    const line = new Line(1);
    const { signal } = new AbortController();
    await expect(line.take(() => Promise.reject(new Error("no picture")), signal)).rejects.toThrow("no picture");
    expect(await line.take(() => Promise.resolve("next"), signal)).toBe("next");
  });
});
