import { describe, expect, it } from "vitest";
import type { ActionResult } from "@/api/types";
import { actInPortions, outcomeOf, parseTags, portions } from "./outcome";

const good = (run_id: string): ActionResult => ({ run_id, ok: true, status: "Canceled", new_run_id: null, error: null });
const bad = (run_id: string): ActionResult => ({ run_id, ok: false, status: null, new_run_id: null, error: { code: "x", message: "It is running." } });

describe("outcomeOf", () => {
  it("says what was done", () => expect(outcomeOf("delete", [good("a"), good("b")])).toMatchObject({ text: "In the bin: 2 runs.", tone: "good", done: ["a", "b"] }));
  it("says what was not, and why", () => expect(outcomeOf("tag", [good("a"), bad("b")])).toMatchObject({ text: "Tagged 1 run. One was left as it is: It is running.", tone: "bad" }));
  it("says only that where nothing was done", () => expect(outcomeOf("cancel", [bad("a"), bad("b")]).text).toBe("2 were left as they are: It is running."));
});

describe("portions", () => {
  it("cuts", () => expect(portions([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]));
  it("does all of them", async () => {
    const ids = Array.from({ length: 1200 }, (_, at) => `r${at}`);
    const sizes: number[] = [];
    const results = await actInPortions(ids, async (part) => part.map(good), (count) => sizes.push(count));
    expect(results.length).toBe(1200);
    expect(sizes).toEqual([500, 1000, 1200]);
  });
  it("says what was not done when the keeper goes away in the middle", async () => {
    let asked = 0;
    const act = async (part: string[]) => {
      asked += 1;
      if (asked === 2) throw new Error("away");
      return part.map(good);
    };
    const ids = Array.from({ length: 700 }, (_, at) => `r${at}`);
    const results = await actInPortions(ids, act);
    expect(results.filter((each) => each.ok).length).toBe(500);
    expect(results[699]?.error?.message).toBe("away");
  });
  it("fails as a whole when nothing was done", async () => {
    await expect(actInPortions(["a"], () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  });
});

describe("parseTags", () => {
  it("takes names with and without values", () => expect(parseTags("team=vision, keep, note=a=b")).toEqual({ team: "vision", keep: "", note: "a=b" }));
  it("refuses a value without a name", () => expect(parseTags("=x")).toBeNull());
});
