import { describe, expect, it } from "vitest";
import { endWords, kindWords, whereWords } from "./cause";

describe("where", () => {
  it("names rank and node, and the attempt when it is not the first", () => {
    expect(whereWords({ rank: 0, node: 0, attempt: 1 })).toBe("rank 0, node 0");
    expect(whereWords({ rank: 3, node: 1, attempt: 2 })).toBe("rank 3, node 1, attempt 2");
    expect(whereWords({ rank: null })).toBe("");
  });
});

describe("how it ended", () => {
  it("says what a signal means", () => {
    expect(endWords({ signal: "SIGKILL", exit_code: null })).toContain("memory was used up");
    expect(endWords({ signal: 11 })).toContain("SIGSEGV");
    expect(endWords({ signal: "SIGUSR1" })).toBe("ended by SIGUSR1");
  });
  it("knows exit codes that stand for signals", () => {
    expect(endWords({ exit_code: 137 })).toMatch(/^exit code 137: killed/);
    expect(endWords({ exit_code: 3 })).toBe("exit code 3");
    expect(endWords({ exit_code: 0 })).toBe("exit code 0");
    expect(endWords({})).toBe("");
  });
});

describe("kinds", () => {
  it("has a sentence for one that it does not know", () => expect([kindWords("Stalled"), kindWords("New")]).toEqual(["It stood still", "It failed"]));
});
