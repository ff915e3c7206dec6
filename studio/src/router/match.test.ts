import { describe, expect, it } from "vitest";
import { fillPath, matchRoute } from "./match";

const routes = [{ path: "/" }, { path: "/runs" }, { path: "/runs/:id" }, { path: "/runs/compare" }, { path: "/files/:run/*path" }];

describe("matchRoute", () => {
  it.each([
    ["/", "/", {}],
    ["/runs/", "/runs", {}],
    ["/runs/a%2Fb%20c", "/runs/:id", { id: "a/b c" }],
    ["/runs/compare", "/runs/compare", {}],
    ["/files/r/outputs/a%20b/c.txt", "/files/:run/*path", { run: "r", path: "outputs/a b/c.txt" }],
    ["/runs/100%", "/runs/:id", { id: "100%" }],
  ])("%s is %s", (path, pattern, params) => {
    expect(matchRoute(path, routes)).toEqual({ route: { path: pattern }, params });
  });
  it("is null where nothing fits", () => {
    expect(matchRoute("/nothing/here", routes)).toBeNull();
  });
  it("is the other way round with fillPath", () => {
    const path = fillPath("/files/:run/*path", { run: "a b", path: "x/ü.txt" });
    expect(path).toBe("/files/a%20b/x/%C3%BC.txt");
    expect(matchRoute(path, routes)?.params).toEqual({ run: "a b", path: "x/ü.txt" });
  });
});
