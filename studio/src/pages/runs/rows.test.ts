import { describe, expect, it } from "vitest";
import type { TableRun } from "@/api/types";
import { dropRows, patchRows, startWith, takeHead, takeMore, totalOf, type Loaded } from "./rows";

const run = (id: string, status = "Completed") => ({ id, status }) as TableRun;
const page = (ids: string, cursor: string | null = "next") => ({ runs: [...ids].map((id) => run(id)), cursor });
const ids = (loaded: Loaded) => loaded.rows.map((each) => each.id).join("");

describe("takeHead", () => {
  it("is the page itself where nothing is below", () => expect(ids(takeHead(startWith(page("dcb")), page("edc")))).toBe("edc"));
  it("puts new ones above and keeps those pushed below", () => {
    const loaded = takeMore(startWith(page("fed")), page("cba", null));
    expect(ids(takeHead(loaded, page("hgf")))).toBe("hgfedcba");
  });
  it("lets go of what fits no more", () => {
    const loaded = takeMore(startWith(page("fed")), page("cba", null));
    expect(ids(takeHead(loaded, page("fdc")))).toBe("fdcba");
  });
  it("counts what has come", () => {
    const loaded = takeMore(startWith(page("fed")), page("cba"));
    expect(totalOf(takeHead(loaded, page("gfe")), 50)).toBe(51);
    expect(totalOf(takeHead(startWith(page("fed")), page("gfe")), 50)).toBe(51);
  });
  it("takes a whole new page", () => {
    const loaded = takeMore(startWith(page("fed")), page("cba", null));
    expect(ids(takeHead(loaded, page("xyz")))).toBe("xyzfedcba");
  });
});

describe("the rest", () => {
  it("takes no row twice", () => expect(ids(takeMore(startWith(page("cb")), page("ba", null)))).toBe("cba"));
  it("replaces rows where they are", () => {
    const loaded = patchRows(startWith(page("ab")), [run("b", "Failed"), run("z")]);
    expect(ids(loaded)).toBe("ab");
    expect(loaded.rows[1]?.status).toBe("Failed");
  });
  it("drops rows and counts them off", () => {
    const loaded = dropRows(startWith(page("abc")), new Set(["b"]));
    expect(ids(loaded)).toBe("ac");
    expect(totalOf(loaded, 10)).toBe(9);
  });
  it("knows the number where all are there", () => expect(totalOf(startWith(page("abc", null)), null)).toBe(3));
  it("does not know it before it was counted", () => expect(totalOf(startWith(page("abc")), null)).toBeNull());
});
