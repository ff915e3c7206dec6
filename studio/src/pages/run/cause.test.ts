import { describe, expect, it } from "vitest";
import { endWords, kindWords, shortCause, whereWords } from "./cause";

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

describe("in brief", () => {
  it("names an exception by its own name", () => {
    expect(shortCause("The script failed with rookery_vision.errors.InvalidDatasetError: no picture")).toBe("The script failed with InvalidDatasetError: no picture");
    expect(shortCause("The script failed with torch.OutOfMemoryError")).toBe("The script failed with OutOfMemoryError");
    expect(shortCause("ValueError: see train.py and os.path: nothing")).toBe("ValueError: see train.py and os.path: nothing");
  });
  it("leaves out the middle of long paths, and nothing else", () => {
    const tree = "c2fcb7077cd0473370ef2268f3f15d394b68178ebae37ed544472a54f3690224";
    expect(shortCause(`/home/a project's code/.rookery/data/cache/trees/${tree} holds no picture`)).toBe("/home/a project's code/…/c2fcb7077c…54f3690224 holds no picture");
    expect(shortCause("No such file: /very/long/way/to/some/folder/of/data/train.csv")).toBe("No such file: /very/…/train.csv");
    const kept = "Expected <category>/<file> below /data/birds; see https://example.org/a/very/long/address/of/a/page/indeed, or `rookery data add x /very/long/way/to/some/folder/of/data/train.csv`";
    expect(shortCause(kept)).toBe(kept);
  });
});
