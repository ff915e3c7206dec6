import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GATHER_MS, makeGather } from "./gather";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("makeGather", () => {
  it("asks once for what many events have touched", () => {
    const invalidate = vi.fn();
    const { add } = makeGather({ isFetching: () => 0, invalidate });
    for (let at = 0; at < 50; at += 1) add([["run", "a"], ["runs"]]);
    expect(invalidate).not.toHaveBeenCalled();
    vi.advanceTimersByTime(GATHER_MS);
    expect(invalidate.mock.calls).toEqual([[["run", "a"]], [["runs"]]]);
  });

  it("lets a slow question end, however many events come meanwhile", () => {
    let isBusy = true;
    const invalidate = vi.fn();
    const { add } = makeGather({ isFetching: () => (isBusy ? 1 : 0), invalidate });
    for (let at = 0; at < 10; at += 1) {
      add([["run", "a"]]);
      vi.advanceTimersByTime(GATHER_MS);
    }
    expect(invalidate).not.toHaveBeenCalled();
    isBusy = false;
    vi.advanceTimersByTime(GATHER_MS);
    expect(invalidate).toHaveBeenCalledTimes(1);
  });

  it("does not wait for ever for one that hangs", () => {
    const invalidate = vi.fn();
    makeGather({ isFetching: () => 1, invalidate }).add([["run", "a"]]);
    vi.advanceTimersByTime(GATHER_MS * 30);
    expect(invalidate).toHaveBeenCalledTimes(1);
  });

  it("is quiet when it is stopped, and when nothing was touched", () => {
    const invalidate = vi.fn();
    const { add, stop } = makeGather({ isFetching: () => 0, invalidate });
    add([]);
    add([["runs"]]);
    stop();
    vi.advanceTimersByTime(GATHER_MS * 3);
    expect(invalidate).not.toHaveBeenCalled();
  });
});
