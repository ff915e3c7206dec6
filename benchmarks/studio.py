"""The studio in a real Chromium: its first load (how much comes over the wire, when the first page can be used, with an empty cache), and
the table of 100,000 runs (when rows are seen, how long a frame takes while it is scrolled)."""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
from typing import Any

from benchmarks.frames import frame_results
from benchmarks.result import Result

ROUNDS = 5
SIZE_GOAL_KB = 300
TIME_GOAL_S = 1.0
# Before the page's own scripts: when the first page is drawn with what the keeper knows, and a frame later keys and clicks are taken.
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("main h1") || document.querySelector("main [aria-label=Loading]")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.interactiveAt = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""


RUNS = 100_000
ROWS_GOAL_S = 1.0
# When the first rows of the table are drawn.
WATCH_ROWS = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("[data-testid=runs-table] [data-row]")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.rowsAt = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""
# A screen further with every frame, down to what is loaded (more is asked for on the way); the times between frames.
SCROLL = """
() => new Promise(resolve => {
  const box = document.querySelector("[data-testid=runs-table]");
  const frames = [];
  let before = performance.now();
  const step = now => {
    frames.push(now - before);
    before = now;
    if (frames.length > 120) { resolve(frames.slice(1)); return; }
    box.scrollTop += box.clientHeight * 0.8;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""


def measure(ws: Any) -> list[Result]:
    from rookery.testing.browser import chromium
    from rookery.testing.studio import ensure_studio

    ensure_studio()
    with tempfile.TemporaryDirectory() as shots, chromium(shots) as browser:
        loads = [_load(browser, ws) for _ in range(ROUNDS + 1)][
            1:
        ]  # the first one warms the keeper and Chromium itself
        rows_s, frames = _many(browser)
    kilobytes = max(size for size, _ in loads) / 1000
    seconds = statistics.median(time for _, time in loads)
    return [
        Result("studio: first load over the wire", kilobytes, "kB", SIZE_GOAL_KB),
        Result("studio: first page interactive, empty cache", seconds, "s", TIME_GOAL_S),
        Result(f"studio: rows of {RUNS:,} runs seen", rows_s, "s", ROWS_GOAL_S),
        *frame_results(f"studio: {RUNS:,} runs scrolled", frames),
    ]


def _load(browser: Any, ws: Any) -> tuple[float, float]:
    """Bytes of scripts, styles and the page itself as they came (compressed), and seconds until it can be used."""
    code = ws.client.request("POST", "/session/code")["code"]
    with contextlib.ExitStack() as stack:
        seen = stack.enter_context(browser.page(check=False))
        # Logged in on a page that loads nothing, so that the one measured is not after a redirect.
        seen.open(f"{ws._base_url}/enter?code={code}&to=/api/v1/hello")
        seen.page.context.add_init_script(WATCH)
        seen.page.goto(f"{ws._base_url}/")
        seen.page.wait_for_selector("main h1", state="attached")
        for _ in range(600):
            at = seen.page.evaluate("window.interactiveAt")
            if at is not None:
                break
            seen.page.wait_for_timeout(50)
        else:
            raise AssertionError("the first page was not there within 30 s")
        size = seen.page.evaluate(
            "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".filter(entry => !entry.name.includes('/api/')).reduce((sum, entry) => sum + entry.transferSize, 0)"
        )
    if not size:
        raise AssertionError("nothing came over the wire: the cache was not empty")
    return size, at / 1000


def _many(browser: Any) -> tuple[float, list[float]]:
    """Seconds from the address to rows in sight (median), and milliseconds of each frame while they are scrolled."""
    from benchmarks.many_runs import workspace_with_runs

    with tempfile.TemporaryDirectory() as folder:
        client = workspace_with_runs(folder, RUNS)
        try:
            with open(f"{folder}/many/keeper/keeper.json") as f:
                base = f"http://127.0.0.1:{json.load(f)['port']}"
            code = client.request("POST", "/session/code")["code"]
            with browser.page(f"{base}/enter?code={code}", check=False) as seen:
                seen.page.wait_for_selector("main h1", state="attached")
                seen.page.context.add_init_script(WATCH_ROWS)
                taken = [_rows_seen(seen.page, base) for _ in range(ROUNDS)]
                frames: list[float] = seen.page.evaluate(SCROLL)
        finally:
            client.request("POST", "/keeper/stop")
    return statistics.median(taken), frames


def _rows_seen(page: Any, base: str) -> float:
    page.goto(f"{base}/runs")
    page.wait_for_selector("[data-testid=runs-table] [data-row]")
    for _ in range(200):
        at = page.evaluate("window.rowsAt")
        if at is not None:
            return at / 1000
        page.wait_for_timeout(20)
    raise AssertionError("no rows were seen")
