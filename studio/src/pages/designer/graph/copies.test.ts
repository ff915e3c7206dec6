import { expect, it } from "vitest";
import { copyName } from "./copies";

it.each([
  ["birds", [], "birds (copy)"],
  ["birds", ["birds (copy)", "birds (copy 2)"], "birds (copy 3)"],
  ["birds (copy)", [], "birds (copy 2)"],
  ["birds (copy 2)", ["birds (copy 3)"], "birds (copy 4)"],
  ["birds (copy) (copy)", [], "birds (copy 2)"],
  ["(copy)", [], "(copy) (copy)"], // that is its name
  ["x".repeat(255), [], `${"x".repeat(248)} (copy)`],
])("%s", (name, taken, expected) => expect(copyName(name, taken)).toBe(expected));
