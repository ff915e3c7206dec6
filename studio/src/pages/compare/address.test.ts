import { describe, expect, it } from "vitest";
import { compareAddress, MOST_RUNS, readIds, readList, writeList } from "./address";

const of = (address: string) => new URL(address, "http://x").searchParams;

describe("the address of a comparison", () => {
  it("says which runs", () => expect(readIds(of(compareAddress(["a_1", "b_2"])))).toEqual(["a_1", "b_2"]));
  it("takes each once, and not too many", () => {
    expect(readIds(of("/compare?runs=a,b,a,,"))).toEqual(["a", "b"]);
    expect(readIds(of(compareAddress(Array.from({ length: 30 }, (_, index) => `r${index}`))))).toHaveLength(MOST_RUNS);
    expect(readIds(of("/compare"))).toEqual([]);
  });
  it("keeps names as they are", () => {
    const search = new URLSearchParams();
    const names = ["params:lr", "metrics:a,b", "metrics:100%", "x%2Cy"];
    search.set("axes", writeList(names));
    expect(readList(search, "axes")).toEqual(names);
  });
});
