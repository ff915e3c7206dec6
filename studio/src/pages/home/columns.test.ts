import { describe, expect, it } from "vitest";
import type { HomeAnswer } from "./Home";
import { quietWords, whereEnded } from "./columns";

const runs = (count: number) => Array.from({ length: count }) as HomeAnswer["running"];
const lists = (running: number, waiting: number, failed: number) => ({ running: runs(running), waiting: runs(waiting), failed: runs(failed) });

describe("whereEnded", () => {
  it("fills the main column where little else is in it", () => expect(whereEnded(lists(0, 0, 2))).toBe("main"));
  it("goes beside where much runs, waits or failed", () => {
    expect(whereEnded(lists(3, 0, 0))).toBe("side");
    expect(whereEnded(lists(1, 1, 1))).toBe("side");
  });
});

describe("quietWords", () => {
  it("says nothing where something runs", () => expect(quietWords(lists(1, 0, 0))).toBeNull());
  it("does not say that nothing waits where something does", () => expect(quietWords(lists(0, 1, 0))).toBe("Nothing runs now."));
  it("speaks of failures where there are none", () => {
    expect(quietWords(lists(0, 0, 0))).toContain("none of the last runs failed");
    expect(quietWords(lists(0, 0, 3))).not.toContain("failed");
  });
});
