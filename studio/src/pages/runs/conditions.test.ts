import { describe as group, expect, it } from "vitest";
import { describe, formatConditions, opsFor, parseConditions, problemOf, toKeeper, type Condition } from "./conditions";

const loss: Condition = { kind: "metric", key: "val/loss", op: "lt", value: "0.1" };
const odd: Condition = { kind: "param", key: "a:b;c%3A", op: "is", value: "x;y:z %" };
const gone: Condition = { kind: "tag", key: "team", op: "none", value: "" };

group("in the address", () => {
  it("comes back as it was, whatever signs it has", () => expect(parseConditions(formatConditions([loss, odd, gone]))).toEqual([loss, odd, gone]));
  it("is readable", () => expect(formatConditions([loss, gone])).toBe("metric:val/loss:lt:0.1;tag:team:none"));
  it.each(["", null, "nonsense", "metric:loss:like:3", "metric:loss:lt:three", "attribute:shoe:is:4"])("leaves out %s", (text) => expect(parseConditions(text)).toEqual([]));
});

group("toKeeper", () => {
  it("compares numbers as numbers", () => expect(toKeeper(loss)).toEqual({ kind: "metric", key: "val/loss", op: "<", value: 0.1 }));
  it("compares equal parameters as texts", () => expect(toKeeper({ kind: "param", key: "lr", op: "is", value: "0.10" }).value).toBe("0.10"));
  it("compares larger parameters as numbers", () => expect(toKeeper({ kind: "param", key: "lr", op: "ge", value: "0.10" }).value).toBe(0.1));
  it("looks for parts of words", () => expect(toKeeper({ kind: "attribute", key: "name", op: "has", value: " net " })).toEqual({ kind: "attribute", key: "name", op: "ILIKE", value: "%net%" }));
  it("takes several", () => expect(toKeeper({ kind: "tag", key: "team", op: "in", value: "a, b,," }).value).toEqual(["a", "b"]));
  it("asks whether it is there", () => expect(toKeeper(gone)).toEqual({ kind: "tag", key: "team", op: "IS NULL" }));
});

group("problemOf", () => {
  it.each([
    [{ ...loss, key: " " }, "Which metric?"],
    [{ ...loss, value: "" }, "What should it be compared with?"],
    [{ ...loss, value: "low" }, "low is no number."],
    [{ kind: "attribute", key: "created", op: "ge", value: "soon" } as Condition, "soon is no time."],
    [loss, null],
    [gone, null],
  ])("%j", (condition, said) => expect(problemOf(condition)).toBe(said));
});

group("words", () => {
  it("says what it means", () => expect(describe(loss)).toBe("val/loss < 0.1"));
  it("says a field by its title", () => expect(describe({ kind: "attribute", key: "user", op: "not", value: "ada" })).toBe("Submitted by is not ada"));
  it("offers what can be asked", () => expect(opsFor("attribute", "created")).toEqual(["ge", "lt", "any", "none"]));
});
