import { describe, expect, it } from "vitest";
import { foldersAbove, readPlace, toggled, writeOpen } from "./browse";

const read = (text: string, first: string[] = []) => {
  const place = readPlace(new URLSearchParams(text), first);
  return [place.file, [...place.open]];
};

describe("the place in the address", () => {
  it("is read", () => expect(read("file=a%2Fb.txt&open=a,c%252Cd")).toEqual(["a/b.txt", ["a", "c,d"]]));
  it("has folders that are open by themselves", () => expect(read("", ["outputs"])).toEqual([null, ["outputs"]]));
  it("opens what leads to the file, in an address that says no more", () => expect(read("file=a/b/c.txt", ["a"])).toEqual(["a/b/c.txt", ["a", "a/b"]]));
  it("says that all are closed", () => expect(read("open=-", ["outputs"])).toEqual([null, [""]]));
  it("comes back as it was written, whatever folders are called", () => {
    const open = new Set(["a", "b,c", "50%", "x%2C"]);
    const search = new URLSearchParams();
    search.set("open", writeOpen(open));
    expect(readPlace(search).open).toEqual(open);
    expect(writeOpen(new Set())).toBe("-");
  });
  it("knows what is above a file", () => expect([foldersAbove("a/b/c.txt"), foldersAbove("c.txt")]).toEqual([["a", "a/b"], []]));
  it("closes what is below too", () => {
    expect([...toggled(new Set(["a", "a/b", "ab"]), "a")]).toEqual(["ab"]);
    expect([...toggled(new Set(["a"]), "a/b")]).toEqual(["a", "a/b"]);
  });
});
