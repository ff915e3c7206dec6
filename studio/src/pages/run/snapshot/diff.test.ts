import { describe, expect, it } from "vitest";
import { changeWord, countChanges, diffLines } from "./diff";

const DIFF = `--- a/train.py
+++ b/train.py
@@ -1,3 +1,3 @@
 import os
-lr = 0.1
+lr = 0.2
++x
 --y
@@ -10 +11,0 @@ def f():
--- z
\\ No newline at end of file
`;

describe("diffLines", () => {
  const lines = diffLines(DIFF);
  it("numbers both sides", () => {
    expect(lines.slice(0, 4)).toEqual([
      { kind: "head", text: "@@ -1,3 +1,3 @@", old: null, new: null },
      { kind: "same", text: "import os", old: 1, new: 1 },
      { kind: "removed", text: "lr = 0.1", old: 2, new: null },
      { kind: "added", text: "lr = 0.2", old: null, new: 2 },
    ]);
    expect(lines[5]).toEqual({ kind: "same", text: "--y", old: 3, new: 4 });
  });
  it("starts anew at each part", () => expect(lines[7]).toEqual({ kind: "removed", text: "-- z", old: 10, new: null }));
  it("says when there is no newline at the end", () => expect(lines[8]?.text).toBe("No newline at end of file"));
  it("counts", () => expect(countChanges(lines)).toEqual({ added: 2, removed: 2 }));
  it("takes an empty one", () => expect(diffLines("")).toEqual([]));
  it("has words for changes", () => expect([changeWord("added"), changeWord("odd")]).toEqual(["new", "odd"]));
});
