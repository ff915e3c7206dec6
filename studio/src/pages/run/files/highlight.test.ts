import { describe, expect, it } from "vitest";
import { highlight, languageOf, toLines, type Language } from "./highlight";

const whole = (text: string, language: Language) => highlight(text, language).map((line) => line.map((piece) => piece[1]).join(""));

describe("highlight", () => {
  it("tells Python's words, texts, numbers and notes apart", () => {
    expect(highlight('def f(x): return "a" + 1.5  # note', "python")).toEqual([
      [["word", "def"], ["plain", " f(x): "], ["word", "return"], ["plain", " "], ["text", '"a"'], ["plain", " + "], ["number", "1.5"], ["plain", "  "], ["note", "# note"]],
    ]);
  });
  it("does not find words inside of names", () => expect(highlight("format = island", "python")).toEqual([[["plain", "format = island"]]]));
  it("goes over lines for triple quotes only", () => {
    const lines = highlight('a = """one\n# two\nthree""" + b\n# four', "python");
    expect(lines[1]).toEqual([["text", "# two"]]);
    expect(lines[2]).toEqual([["text", 'three"""'], ["plain", " + b"]]);
    expect(lines[3]).toEqual([["note", "# four"]]);
  });
  it("takes a triple quote in a comment or a text for what it is", () => {
    expect(highlight('# """\nx = 1', "python")[1]).toEqual([["plain", "x = "], ["number", "1"]]);
    expect(highlight("y = '\"\"\"'\nx = 1", "python")[1]).toEqual([["plain", "x = "], ["number", "1"]]);
  });
  it("opens and closes on one line", () => expect(highlight('"""a""" if x', "python")[0]).toEqual([["text", '"""'], ["text", 'a"""'], ["plain", " "], ["word", "if"], ["plain", " x"]]));
  it("knows YAML's keys", () => expect(highlight("  lr: 0.1 # small", "yaml")[0]).toEqual([["plain", "  "], ["key", "lr"], ["plain", ": "], ["number", "0.1"], ["plain", " "], ["note", "# small"]]));
  it("knows JSON's keys from its texts", () => expect(highlight('{"a": "b", "c": null}', "json")[0]).toEqual([["plain", "{"], ["key", '"a"'], ["plain", ": "], ["text", '"b"'], ["plain", ", "], ["key", '"c"'], ["plain", ": "], ["word", "null"], ["plain", "}"]]));
  it.each(["python", "yaml", "json", "shell", "plain"] as const)("loses no character in %s", (language) => {
    const text = "a = 'it''s' \"\\\" # ü '''x\n\n  - b: [1, 2]\n\t$HOME ${x";
    expect(whole(text, language)).toEqual(toLines(text));
  });
  it("leaves a very long line alone", () => expect(highlight("1".repeat(5000), "python")[0]).toHaveLength(1));
  it("goes by the ending", () => expect([languageOf("a/train.PY"), languageOf("x.yml"), languageOf("LICENSE")]).toEqual(["python", "yaml", "plain"]));
});
