import { describe, expect, it } from "vitest";
import { commandLine, environmentWords, gitFacts, quote } from "./facts";

describe("command", () => {
  it("is quoted where a shell would need it", () => {
    expect(commandLine({ run_id: "r", experiment: "e", script: "train.py", arguments: ["--lr", "0.1", "--name", "it's two words", ""] })).toBe("python train.py --lr 0.1 --name 'it'\\''s two words' ''");
  });
  it("is taken as it is where one was given, and may be none", () => {
    expect(commandLine({ run_id: "r", experiment: "e", command: "a && b" })).toBe("a && b");
    expect(commandLine({ run_id: "r", experiment: "e" })).toBe("");
  });
  it("leaves plain words alone", () => expect(quote("a/b.py")).toBe("a/b.py"));
});

describe("facts", () => {
  it("says when there is no repository", () => expect(gitFacts({})).toEqual([["Git", "not in a repository"]]));
  it("says in words whether all was committed", () => expect(gitFacts({ branch: "main", dirty: "True" })).toEqual([["Branch", "main"], ["Changed since", "yes: not all of it was committed"]]));
  it("leaves out what is not known of an environment", () => expect(environmentWords({ name: "", version: null, key: null, python: null, user_managed: false })).toEqual([["Name", "unnamed"]]));
});
