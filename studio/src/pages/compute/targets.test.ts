import { describe, expect, it } from "vitest";
import { busyNodes, engineWord, isEmbedded, nodeHas, nodeLook, sizeProblem, sizeWords, statesWords } from "./targets";

describe("targets", () => {
  const local = { kind: "local", spec: {}, max_nodes: 2 };
  const pool = { kind: "cluster", spec: { engine: "embedded", min_nodes: 1, max_nodes: 4 }, max_nodes: 4 };
  const ray = { kind: "cluster", spec: { engine: "ray" }, max_nodes: 3 };
  it("says what a target is", () => {
    expect([local, pool, ray].map(engineWord)).toEqual(["this machine", "nodes of this machine", "Ray cluster"]);
    expect([local, pool, ray].map(isEmbedded)).toEqual([false, true, false]);
    expect([local, pool, ray].map(sizeWords)).toEqual(["2 runs at a time", "1 to 4 nodes", "up to 3 nodes"]);
  });
  it("counts nodes", () => {
    expect(busyNodes({ node_states: { running: 1, leaving: 1, idle: 3 } })).toBe(2);
    expect(statesWords({ running: 1, idle: 0 })).toBe("1 running");
    expect(statesWords({})).toBe("none up");
  });
  it("says what a node has", () => {
    expect(nodeHas({ id: "a", state: "idle", num_cpus: 4, free_cpus: 2, num_gpus: 1, memory_bytes: 16e9 })).toBe("4 cores, 2 free · 1 GPU · 16.0 GB");
    expect(nodeHas({ id: "a", state: "idle" })).toBe("");
    expect(nodeLook("unheard of").tone).toBe("idle");
  });
});

describe("sizeProblem", () => {
  it.each([
    ["0", "4", "60", null],
    ["5", "4", "60", /more than the most/],
    ["0", "0", "60", /room for one/],
    ["x", "4", "60", /least must be/],
    ["0", "4", "", /seconds must be.*nothing/],
  ])("%s to %s, %s s", (min, max, idle, expected) => {
    const found = sizeProblem({ min, max, idle });
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatch(expected);
  });
});
