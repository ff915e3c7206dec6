import { describe, expect, it, vi } from "vitest";
import { patiently } from "./loading";

describe("patiently", () => {
  it("asks once where that is enough", async () => {
    const load = vi.fn(async () => "page");
    expect(await patiently(load, [0, 0])()).toBe("page");
    expect(load).toHaveBeenCalledTimes(1);
  });
  it("asks again after a failure", async () => {
    const load = vi.fn(async () => "page").mockRejectedValueOnce(new Error("net"));
    expect(await patiently(load, [0, 0])()).toBe("page");
  });
  it("gives up with what was wrong", async () => {
    const load = vi.fn(() => Promise.reject(new Error("gone")));
    await expect(patiently(load, [0, 0])()).rejects.toThrow("gone");
    expect(load).toHaveBeenCalledTimes(3);
  });
});
