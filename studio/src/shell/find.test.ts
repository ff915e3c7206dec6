import { describe, expect, it } from "vitest";
import { best } from "./find";

const items = ["Runs", "Show running runs", "Settings", "Environments", "birds-resnet"];

describe("best", () => {
  it("puts what begins with it first", () => expect(best(items, "run", (item) => item)[0]).toBe("Runs"));
  it("needs every word", () => expect(best(items, "show runs", (item) => item)).toEqual(["Show running runs"]));
  it("finds parts of names", () => expect(best(items, "resnet", (item) => item)).toEqual(["birds-resnet"]));
  it("offers all where nothing is typed", () => expect(best(items, "", (item) => item).length).toBe(items.length));
});
