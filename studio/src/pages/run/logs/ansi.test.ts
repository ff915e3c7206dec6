import { describe, expect, it } from "vitest";
import { lastWritten, plainText, toPieces } from "./ansi";

const ESC = "\u001b";

describe("colours", () => {
  it("are cut into pieces", () => {
    expect(toPieces(`a${ESC}[31mred${ESC}[1m bold${ESC}[0m end`)).toEqual([{ text: "a" }, { text: "red", color: "red" }, { text: " bold", color: "red", isBold: true }, { text: " end" }]);
  });
  it.each([
    ["38;5;196", "red"],
    ["38;2;20;200;30", "green"],
    ["38;2;120;120;120", "grey"],
    ["38;5;244", "grey"],
    ["93", "yellow"],
    ["38;2;250;250;250", undefined],
  ])("%s is %s of the theme", (code, color) => expect(toPieces(`${ESC}[${code}mx`)[0]?.color).toBe(color));
  it("of the ground are left out, with their numbers", () => expect(toPieces(`${ESC}[48;5;196;1mx`)).toEqual([{ text: "x", isBold: true }]));
  it("end", () => expect(toPieces(`${ESC}[1;31ma${ESC}[22;39mb`).map((piece) => [piece.isBold, piece.color])).toEqual([[true, "red"], [undefined, undefined]]));
});

describe("what is not text", () => {
  it("is left out: cursor moves, titles, links, bells", () => expect(plainText(`${ESC}[2K${ESC}[1Aa${ESC}]0;title\u0007b${ESC}]8;;http://x${ESC}\\link\u0007\u0000`)).toBe("ablink"));
  it("leaves tabs", () => expect(plainText("a\tb")).toBe("a\tb"));
  it("takes a sequence that is cut off as text without its escape", () => expect(toPieces(`x${ESC}[3`).map((piece) => piece.text).join("")).toContain("x"));
});

describe("progress bars", () => {
  it("show their last state", () => expect(lastWritten("10%|#   |\r50%|##  |\r100%|####|")).toBe("100%|####|"));
  it("show the last one that has something in it", () => expect([lastWritten("99%\r"), lastWritten(`50%\r${ESC}[K`), lastWritten("\r\r7%")]).toEqual(["99%", "50%", "7%"]));
});

describe("found text", () => {
  it("is marked, also over colours", () => {
    const pieces = toPieces(`the ${ESC}[31mer${ESC}[0mror is an Error`, "error");
    expect(pieces.filter((piece) => piece.isFound).map((piece) => piece.text)).toEqual(["er", "ror", "Error"]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("the error is an Error");
  });
  it("heeds capitals when asked", () => expect(toPieces("Error error", "error", true).filter((piece) => piece.isFound)).toHaveLength(1));
});
