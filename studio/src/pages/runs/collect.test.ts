import { expect, it } from "vitest";
import { collectIds } from "./collect";

it("goes through all pages", async () => {
  const pages: Record<string, { runs: { id: string }[]; cursor: string | null }> = { "": { runs: [{ id: "a" }, { id: "b" }], cursor: "x" }, x: { runs: [{ id: "c" }], cursor: null } };
  const found: number[] = [];
  const ids = await collectIds({ text: "net" }, (count) => found.push(count), async (body) => pages[body.cursor ?? ""] as never);
  expect(ids).toEqual(["a", "b", "c"]);
  expect(found).toEqual([2, 3]);
});
