import { describe, expect, it } from "vitest";
import type { BriefRun, ExperimentCounted as Experiment } from "@/api/types";
import { parseSort, shownOf } from "./shown";

const experiment = (name: string, shown_count: number, tags = {}) => ({ name, shown_count, tags, created_utc: `2026-0${shown_count}` }) as Experiment;
const run = (name: string, created_utc: string) => ({ experiment: name, created_utc }) as BriefRun;
const all = [experiment("birds", 3, { team: "vision" }), experiment("cats", 9), experiment("ants", 1)];
const newest = [run("cats", "5"), run("birds", "4"), run("cats", "3")];
const names = (text: string, sort: string | null) => shownOf(all, newest, text, parseSort(sort)).map((each) => each.name);

describe("shownOf", () => {
  it("has those that ran last first, and then those that have rested", () => expect(names("", null)).toEqual(["cats", "birds", "ants"]));
  it("sorts by name", () => expect(names("", "name")).toEqual(["ants", "birds", "cats"]));
  it("sorts by how many", () => expect(names("", "-runs")).toEqual(["cats", "birds", "ants"]));
  it("finds by tags too", () => expect(names("vision", null)).toEqual(["birds"]));
  it("knows the newest run of each", () => expect(shownOf(all, newest, "cats", parseSort(null))[0]?.last?.created_utc).toBe("5"));
});
