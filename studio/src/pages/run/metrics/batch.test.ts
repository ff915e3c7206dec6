import { describe, expect, it, vi } from "vitest";
import { makeBatch, type Question } from "./batch";

const question: Question = { run: "r", points: 100, x: "step", from: null, to: null, by: null };

describe("makeBatch", () => {
  it("asks once for what is asked for at the same time", async () => {
    const ask = vi.fn(async (_: Question, names: string[]) => names.map((name) => ({ name })));
    const load = makeBatch(ask);
    expect(await Promise.all([load(question, "a"), load({ ...question }, "b"), load(question, "a")])).toEqual([[{ name: "a" }], [{ name: "b" }], [{ name: "a" }]]);
    expect(ask.mock.calls.map((call) => call[1])).toEqual([["a", "b"]]);
  });
  it("asks apart for other ranges, and anew afterwards", async () => {
    const ask = vi.fn(async (_: Question, names: string[]) => names.map((name) => ({ name })));
    const load = makeBatch(ask);
    await Promise.all([load(question, "a"), load({ ...question, from: 5 }, "a")]);
    await load(question, "a");
    expect(ask).toHaveBeenCalledTimes(3);
  });
  it("goes in parts of twenty", async () => {
    const ask = vi.fn(async (_: Question, names: string[]) => names.map((name) => ({ name })));
    const load = makeBatch(ask);
    await Promise.all(Array.from({ length: 45 }, (_, index) => load(question, `m${index}`)));
    expect(ask.mock.calls.map((call) => call[1].length)).toEqual([20, 20, 5]);
  });
  it("gives all of a name: by rank there are several", async () => {
    const found = [0, 1].map((rank) => ({ name: "a", rank }));
    expect(await makeBatch(async () => [...found, { name: "b", rank: 0 }])({ ...question, by: "rank" }, "a")).toEqual(found);
  });
  it("has nothing for what there is none of, and fails all when the keeper fails", async () => {
    expect(await makeBatch(async () => [] as { name: string }[])(question, "gone")).toEqual([]);
    const failing = makeBatch<{ name: string }>(() => Promise.reject(new Error("away")));
    await expect(Promise.all([failing(question, "a"), failing(question, "b")])).rejects.toThrow("away");
  });
});
