"""The designer with 300 nodes in a real Chromium: how long frames take while the canvas is panned, zoomed and a node is dragged."""

from __future__ import annotations

import tempfile
from typing import Any

from benchmarks.frames import frame_results
from benchmarks.result import Result

NODES = 300
COMPUTED_GOAL_MS = 33.0  # thirty pictures a second: what the page itself computes for one, without a graphics card
OPEN_GOAL_S = 5.0
# Every frame's length while something is done.
WATCH = """() => {
  window.frames_ms = [];
  let before = performance.now();
  const next = (now) => { window.frames_ms.push(now - before); before = now; window.frame_handle = requestAnimationFrame(next); };
  window.frame_handle = requestAnimationFrame(next);
}"""
STOP = "() => { cancelAnimationFrame(window.frame_handle); return window.frames_ms.slice(1); }"


def measure(ws: Any) -> list[Result]:
    from rookery.testing.browser import chromium
    from rookery.testing.studio import ensure_studio

    ensure_studio()
    draft = ws.client.request("POST", "/pipelines/drafts", body={"graph": large_graph(), "name": "large"})
    code = ws.client.request("POST", "/session/code")["code"]
    with tempfile.TemporaryDirectory() as shots, chromium(shots) as browser, browser.page(check=False) as seen:
        seen.open(f"{ws._base_url}/enter?code={code}&to=/designer")
        page = seen.page
        page.wait_for_selector("main h1", state="attached")
        page.goto(f"{ws._base_url}/designer/drafts/{draft['id']}")
        page.get_by_test_id("designer-node").nth(NODES - 1).wait_for(state="attached")
        opened_s = page.evaluate("performance.now()") / 1000
        page.wait_for_timeout(1500)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        frames = {}
        for what, doing in (("panned", _panned), ("zoomed", _zoomed), ("a node dragged", _dragged)):
            before = _computed_s(session)
            started = _seen_at(page)
            times = doing(page)
            if what == "panned" and _seen_at(page) == started:
                raise RuntimeError("The canvas did not move: is the page whole? What was measured says nothing.")
            frames[what] = (times, (_computed_s(session) - before) * 1000 / max(1, len(times)))
    results = [Result(f"designer: {NODES} nodes, opened", opened_s, "s", OPEN_GOAL_S)]
    for what, (times, computed_ms) in frames.items():
        results.append(
            Result(f"designer: {NODES} nodes {what}, computed per frame", computed_ms, "ms", COMPUTED_GOAL_MS)
        )
        results += frame_results(f"designer: {NODES} nodes {what}", times)
        print(f"  {what}: {len(times)} frames, longest {max(times):.0f} ms")
    return results


def _computed_s(session: Any) -> float:
    """Seconds that the page's main thread has computed: not those in which it waited for others on this machine."""
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(found["ThreadTime"])


def _seen_at(page: Any) -> Any:
    """Where a node is on the screen."""
    return page.locator('[data-node="n45"]').bounding_box()


def large_graph() -> dict[str, Any]:
    """Chains of splits, thirty side by side."""
    nodes: dict[str, Any] = {}
    layout = {}
    for index in range(NODES):
        above = index - 30
        inputs = (
            {"input_image_directory": {"node": f"n{above}", "port": "output_image_directory1"}} if above >= 0 else {}
        )
        nodes[f"n{index}"] = {
            "kind": "module",
            "module": "split_image_directory",
            "parameters": {"fraction": 0.5},
            "inputs": inputs,
        }
        layout[f"n{index}"] = {"x": index % 30 * 300, "y": index // 30 * 150}
    return {"version": 1, "name": "large", "nodes": nodes, "layout": layout, "parameters": {}}


def _panned(page: Any) -> list[float]:
    page.mouse.move(800, 500)
    page.evaluate(WATCH)
    for step in range(40):
        page.mouse.wheel(12 if step < 20 else -12, 6)
    return _stop(page)


def _zoomed(page: Any) -> list[float]:
    page.evaluate(WATCH)
    page.keyboard.down("Control")
    for step in range(30):
        page.mouse.wheel(0, -60 if step < 15 else 60)
    page.keyboard.up("Control")
    return _stop(page)


def _dragged(page: Any) -> list[float]:
    box = page.locator('[data-node="n45"]').bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(WATCH)
    for step in range(40):
        page.mouse.move(x + 3 * step, y + 2 * step)
    times = _stop(page)
    page.mouse.up()
    return times


def _stop(page: Any) -> list[float]:
    found: list[float] = page.evaluate(STOP)
    return found
