import { afterEach, describe, expect, it, vi } from "vitest";
import { apiUrl, call } from "./client";
import { ApiError } from "./errors";

afterEach(() => vi.unstubAllGlobals());

function answerWith(status: number, body: string, type = "application/json") {
  const fetched = vi.fn<typeof fetch>().mockResolvedValue(new Response(body, { status, headers: { "content-type": type } }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

describe("apiUrl", () => {
  it("fills the path and repeats lists in the query", () => {
    const url = apiUrl("/api/v1/runs/{run_id}/x", { run_id: "a/b c" }, { tag: ["x", "y=1"], gone: undefined, none: null });
    expect(url.pathname + url.search).toBe("/api/v1/runs/a%2Fb%20c/x?tag=x&tag=y%3D1");
  });
  it("keeps the slashes of a file's name", () => {
    expect(apiUrl("/api/v1/runs/{run_id}/artifacts/{name}", { run_id: "r", name: "outputs/a b.txt" }).pathname).toBe("/api/v1/runs/r/artifacts/outputs/a%20b.txt");
  });
});

describe("call", () => {
  it("sends JSON and gives the answer", async () => {
    const fetched = answerWith(200, '{"name":"x"}');
    await expect(call("change_run", { path: { run_id: "r" }, body: { tags: { a: "1" } } })).resolves.toEqual({ name: "x" });
    expect(fetched.mock.calls[0]?.[1]).toMatchObject({ method: "PATCH", body: '{"tags":{"a":"1"}}', credentials: "same-origin" });
  });
  it("throws the keeper's own words", async () => {
    answerWith(404, '{"error":{"code":"run_not_found","message":"Run \'x\' does not exist.","details":{"request_id":"7"}}}');
    const error = await call("get_run", { path: { run_id: "x" } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, code: "run_not_found", requestId: "7", isAway: false });
  });
  it("tells a keeper that is away from one that refuses", async () => {
    vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new TypeError("failed")));
    await expect(call("get_me")).rejects.toMatchObject({ status: 0, isAway: true });
    answerWith(502, "<h1>Bad gateway</h1>", "text/html");
    await expect(call("get_me")).rejects.toMatchObject({ status: 502, isAway: true });
    answerWith(401, '{"error":{"code":"authentication","message":"No."}}');
    await expect(call("get_me")).rejects.toMatchObject({ isLoggedOut: true, isAway: false });
  });
});
