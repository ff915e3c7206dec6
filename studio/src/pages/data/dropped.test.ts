import { describe, expect, it } from "vitest";
import { chosenOf, nameProblem, packOf, readEntries, readPicked, suggestName } from "./dropped";

const file = (name: string, text = "x") => new File([text], name);

function fileEntry(name: string): FileSystemEntry {
  return { name, isFile: true, isDirectory: false, file: (done: (file: File) => void) => done(file(name)) } as unknown as FileSystemEntry;
}

function folderEntry(name: string, children: FileSystemEntry[]): FileSystemEntry {
  const createReader = () => {
    const rest = [...children];
    return { readEntries: (done: (some: FileSystemEntry[]) => void) => done(rest.splice(0, 2)) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

describe("readEntries", () => {
  it("walks folders to their end, keeps empty ones, leaves out what the system put there", async () => {
    const birds = folderEntry("birds", [fileEntry("a.jpg"), fileEntry("b.jpg"), fileEntry("c d.jpg"), folderEntry("empty", []), fileEntry(".DS_Store")]);
    const chosen = await readEntries([birds]);
    expect(chosen.items.map((item) => item.path)).toEqual(["birds/a.jpg", "birds/b.jpg", "birds/c d.jpg", "birds/empty/"]);
    expect(chosen).toMatchObject({ name: "birds", files: 3, bytes: 3, left: 1, zip: null });
  });
});

describe("chosenOf", () => {
  it("is a zip when it is nothing else", () => {
    expect(readPicked([file("Birds.ZIP")])).toMatchObject({ name: "Birds", files: 1 });
    expect(readPicked([file("Birds.ZIP")]).zip?.name).toBe("Birds.ZIP");
    expect(readPicked([file("a.zip"), file("b.txt")]).zip).toBeNull();
  });
  it("is nothing where nothing was dropped", () => {
    expect(chosenOf([])).toMatchObject({ files: 0, bytes: 0, zip: null, name: "" });
  });
});

describe("packOf", () => {
  it("names each file before its bytes", async () => {
    const pack = packOf([
      { path: "birds/ä.txt", file: file("ä.txt", "crow") },
      { path: "birds/empty/", file: null },
    ]);
    expect(await pack.text()).toBe('{"path":"birds/ä.txt","size":4}\ncrow{"path":"birds/empty/","size":0}\n');
  });
});

describe("names", () => {
  it("come from what was dropped", () => {
    expect(suggestName([{ path: "a.b/c.txt", file: null }])).toBe("a.b");
    expect(suggestName([{ path: "iris.csv", file: null }])).toBe("iris");
    expect(suggestName([{ path: "a", file: null }, { path: "b", file: null }])).toBe("");
  });
  it("are checked as one types", () => {
    expect(nameProblem("crows & rooks")).toBeNull();
    expect(nameProblem("a/b")).toContain("'/'");
    expect(nameProblem(" ")).toBe("Give it a name.");
  });
});
