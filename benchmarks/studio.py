"""The studio's first load: how much comes over the wire, and when the first page can be used, in a real Chromium with an empty cache."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from typing import Any

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


def measure(ws: Any) -> list[Result]:
    from rookery.testing.browser import chromium
    from rookery.testing.studio import ensure_studio

    ensure_studio()
    with tempfile.TemporaryDirectory() as shots, chromium(shots) as browser:
        loads = [_load(browser, ws) for _ in range(ROUNDS + 1)][
            1:
        ]  # the first one warms the keeper and Chromium itself
    kilobytes = max(size for size, _ in loads) / 1000
    seconds = statistics.median(time for _, time in loads)
    return [
        Result("studio: first load over the wire", kilobytes, "kB", SIZE_GOAL_KB),
        Result("studio: first page interactive, empty cache", seconds, "s", TIME_GOAL_S),
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
