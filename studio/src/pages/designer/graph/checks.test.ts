import { describe, expect, it } from "vitest";
import { compareRuns } from "./compare";
import { birds, CARDS, CATALOG, parameter } from "./fixtures";
import { check, checkTyped, counts, freeName } from "./parameters";
import { byNode, ownProblems } from "./problems";
import { findNodes, palette } from "./search";
import { countSteps, countWords, firstFailing, type Step } from "./steps";

const fraction = parameter("fraction", "Float", { low: 0, high: 1, default: 0.9 });
const epochs = parameter("epochs", "Integer", { above: 0, default: 5 });

describe("check", () => {
  it.each([
    [fraction, "0.5", 0.5, null],
    [fraction, "1e-1", 0.1, null],
    [fraction, "1.5", 1.5, "fraction is 1.5. Allowed: a number from 0 to 1."],
    [fraction, "half", "half", "fraction is half. Allowed: a number from 0 to 1."],
    [epochs, "0", 0, "epochs is 0. Allowed: a whole number above 0."],
    [epochs, "2.5", "2.5", "epochs is 2.5. Allowed: a whole number above 0."],
    [epochs, "", null, "epochs is missing. Allowed: a whole number above 0."],
    [epochs, undefined, null, null],
    [parameter("mode", "Mode", { required: true, choices: ["a", "b"] }), undefined, null, "mode is missing. Allowed: a, b."],
    [parameter("on", "Boolean"), true, true, null],
    [parameter("weights", "String", { default: "" }), "", "", null],
  ] as const)("%o given %j", (card, given, value, problem) => {
    expect(check(card, given)).toEqual(value === "2.5" || value === "half" ? { value: given, problem } : { value, problem });
  });
  it("leaves what is bound to the pipeline alone", () => {
    expect(check(epochs, { pipeline_parameter: "rounds" }).problem).toBeNull();
  });
  it("knows what counts", () => {
    const all = [parameter("pad", "Boolean", { default: false }), parameter("padding", "Integer", { when: ["pad", true] })];
    expect(counts(all[1] as (typeof all)[0], all, {})).toBe(false);
    expect(counts(all[1] as (typeof all)[0], all, { pad: true })).toBe(true);
  });
  it("reads the pipeline's own", () => {
    expect(checkTyped("n", "integer", "3").value).toBe(3);
    expect(checkTyped("n", "integer", "3.5").problem).toContain("whole number");
    expect(checkTyped("b", "boolean", "TRUE").value).toBe(true);
    expect(freeName("Learning rate", ["learning_rate"])).toBe("learning_rate_2");
  });
});

describe("problems", () => {
  it("finds all at once", () => {
    const graph = birds();
    graph.nodes.train = { ...graph.nodes.train, kind: "module", module: "train", inputs: {}, parameters: { epochs: 0 } };
    graph.nodes.odd = { kind: "module", module: "lost" };
    const found = byNode(ownProblems(graph, CATALOG));
    expect(found.get("train")?.map((each) => each.code)).toEqual(["missing_input", "missing_input", "missing_input", "bad_parameter", "missing_parameter"]);
    expect(found.get("odd")?.[0]?.message).toContain("no module 'lost'");
  });
  it("is silent where all is well", () => {
    expect(ownProblems(birds(), CATALOG)).toEqual([]);
  });
});

describe("search", () => {
  it("finds cards by any of their words, titles first", () => {
    expect(palette(CARDS, "")[0]?.cards).toHaveLength(4);
    expect(palette(CARDS, "EPOCHS train").flatMap((each) => each.cards.map((card) => card.name))).toEqual(["train"]);
    expect(palette(CARDS, "nothing")).toEqual([]);
  });
  it("finds nodes by words and status", () => {
    expect(findNodes(birds(), CATALOG, "split")).toEqual(["split"]);
    expect(findNodes(birds(), CATALOG, "status:fail", (id) => (id === "net" ? "Failed" : null))).toEqual(["net"]);
    expect(findNodes(birds(), CATALOG, "  ")).toEqual([]);
  });
});

const step = (status: string, more: Partial<Step> = {}): Step => ({ run_id: "r", status, ...more });

describe("steps", () => {
  it("counts and finds the first that failed", () => {
    const steps = { a: step("Completed", { reused_from: "x" }), b: step("Failed", { ended: "2026-01-02" }), c: step("Failed", { ended: "2026-01-01" }), d: step("Running"), e: step("NotStarted") };
    expect(countWords(countSteps(steps))).toBe("1 of 5 modules done, 1 reused, 1 running, 2 failed");
    expect(firstFailing(steps)).toBe("c");
    expect(firstFailing({})).toBeNull();
  });
});

describe("compareRuns", () => {
  it("shows what differs first, with bound values put in", () => {
    const left = { graph: birds(), parameters: {}, steps: {} };
    const other = birds();
    other.parameters = { rounds: { type: "integer", default: 9 } };
    other.nodes.train = { ...other.nodes.train, kind: "module", module: "train", parameters: { mode: "a", epochs: { pipeline_parameter: "rounds" } } };
    delete other.nodes.net;
    const rows = compareRuns(left, { graph: other, parameters: { rounds: 11 }, steps: {} }, CATALOG);
    expect(rows.slice(0, 2).map((row) => row.node)).toEqual(["net", "train"]);
    expect(rows[0]?.only).toBe("left");
    expect(rows[1]?.differences).toEqual([{ what: "epochs", left: "5", right: "11" }]);
  });
});
