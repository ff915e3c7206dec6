import { describe, expect, it } from "vitest";
import { kindOf, neighbour, sourcesOf, storePlace, trail, usedAs } from "./datasets";

describe("a data set as words", () => {
  it("says where its files are", () => {
    expect(sourcesOf({ definition: { sources: [{ datastore: "east", path: "a/**" }, { datastore: "east", path: "" }, { url: "https://x/y" }] } })).toEqual(["east › a/**", "east › all of it", "https://x/y"]);
    expect(sourcesOf({ definition: {} })).toEqual([]);
  });
  it("says what kind it is", () => {
    expect(kindOf({ kind: "file", definition: {} })).toBe("Files");
    expect(kindOf({ kind: "tabular", definition: { format: { type: "parquet" } } })).toBe("Table (Parquet)");
  });
  it("says what a run did with it", () => {
    expect(usedAs({ direction: "out", mode: "mount", by_name: true, name: "x" })).toBe("made by");
    expect(usedAs({ direction: "in", mode: "mount", by_name: true, name: "birds" })).toBe("read as birds (mount)");
    expect(usedAs({ direction: "in", mode: "mount", by_name: false, name: "birds" })).toBe("read the same content");
  });
});

describe("storePlace", () => {
  it("is one line for every kind", () => {
    expect(storePlace({ kind: "folder", spec: { folder: "/data" } })).toBe("/data");
    expect(storePlace({ kind: "s3", spec: { bucket: "b", endpoint: "http://x" } })).toBe("http://x › b");
    expect(storePlace({ kind: "azure", spec: { account: "a", container: "c" } })).toBe("a › c");
    expect(storePlace({ kind: "new", spec: {} })).toBe("–");
  });
});

describe("walking", () => {
  it("knows the way back", () => {
    expect(trail("a/b")).toEqual([["a", "a"], ["b", "a/b"]]);
    expect(trail("")).toEqual([]);
  });
  it("goes from one to the next", () => {
    expect(neighbour(["a", "b"], "a", 1)).toBe("b");
    expect(neighbour(["a", "b"], "a", -1)).toBeNull();
    expect(neighbour(["a", "b"], "c", 1)).toBeNull();
  });
});
