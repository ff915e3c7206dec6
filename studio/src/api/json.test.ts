import { describe, expect, it } from "vitest";
import { parseJson } from "./json";

describe("parseJson", () => {
  it("reads the bare tokens that Python writes", () => {
    expect(parseJson('{"a":[1,NaN,-Infinity,Infinity]}')).toEqual({ a: [1, NaN, -Infinity, Infinity] });
  });
  it("leaves the same words in texts alone", () => {
    expect(parseJson('{"a":"NaN \\" Infinity","b":NaN}')).toEqual({ a: 'NaN " Infinity', b: NaN });
  });
  it("still refuses what is no JSON", () => {
    expect(() => parseJson("<html>")).toThrow(SyntaxError);
    expect(() => parseJson("{NaN}")).toThrow(SyntaxError);
  });
});
