"""Hands for the designer: `board = Board(seen)`; `board.drag("Split Image Directory", 300, 200)`, `board.connect("a", "out", "b", "in")`, …"""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

WAIT_S = 120.0


class Board:
    """A page with a draft open on it, and what a person does to it."""

    def __init__(self, seen: Any) -> None:
        self.seen = seen
        self.page = seen.page

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """The keeper's answer, asked as the page asks."""
        return self.page.evaluate(
            """async ([path, method, body]) => {
              const response = await fetch(new URL("api/v1" + path, document.baseURI), {method, body: body && JSON.stringify(body),
                headers: body ? {"Content-Type": "application/json"} : {}});
              const answer = await response.json();
              if (!response.ok) throw new Error(JSON.stringify(answer));
              return answer;
            }""",
            [path, method, body],
        )

    def open_new(self, graph: dict[str, Any], base: str) -> str:
        """A draft of this graph, opened; its id."""
        made = self.ask("/pipelines/drafts", "POST", {"graph": graph, "name": graph["name"]})
        self.open(made["id"], base)
        return str(made["id"])

    def open(self, draft_id: str, base: str) -> None:
        self.seen.open(f"{base}/designer/drafts/{draft_id}")
        self.page.get_by_test_id("designer-canvas").wait_for()
        self.page.get_by_test_id("designer-palette-item").first.wait_for()

    @property
    def draft_id(self) -> str:
        return str(self.page.url.partition("/designer/drafts/")[2].partition("?")[0])

    def node(self, node: str) -> Any:
        return self.page.locator(f'[data-testid=designer-node][data-node="{node}"]')

    def drag(self, what: str, x: float, y: float) -> None:
        """From the palette to this place of the canvas."""
        self.page.locator(f'[data-testid=designer-palette-item][data-module="{what}"]').drag_to(
            self.page.get_by_test_id("designer-canvas"), target_position={"x": x, "y": y}
        )

    def close_pane(self) -> None:
        self.page.get_by_label("Close the pane").click()
        self.page.get_by_test_id("designer-pane").wait_for(state="detached")

    def lay_out(self) -> None:
        """All in sight, and at rest: a port that still moves would be missed."""
        self.page.get_by_test_id("designer-layout").click()
        self.page.get_by_test_id("designer-fit").click()
        self.rest()

    def rest(self) -> None:
        """Until every node is in sight and nothing moves any more. There is one at least."""
        self.until(self._is_at_rest, "the canvas still moves, or not all of it is in sight")

    def see(self, node: str) -> None:
        """Until this node is in sight: on the canvas, and not under the pane."""
        self.until(lambda: self._is_seen(node), f"{node} is not in sight")

    def click(self, what: Any) -> None:
        """On something of the canvas itself: once it is in sight and does not move, which a person would wait for too."""
        what.wait_for()
        self.until(lambda: self._is_still(what), "what is to be clicked is not in sight, or moves")
        what.click()

    def drop(self, *paths: Any) -> None:
        """Files from a desktop, on the middle of the canvas."""
        box = self.still(self.page.get_by_test_id("designer-canvas"))
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        session = self.page.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            session.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
        session.detach()

    def connect(self, source: str, output: str, target: str, given: str) -> None:
        """Draws a line from port to port, and sees it there."""
        line = self.page.locator(f'.react-flow__edge[data-id="{target}:{given}"]')
        for _ in range(3):  # the canvas may have moved under the mouse: whoever misses a port tries again
            self.draw(source, output, target, given)
            with contextlib.suppress(Exception):
                line.wait_for(state="attached", timeout=5000)
                return
            self.page.get_by_test_id("designer-fit").click()
            self.rest()
        raise AssertionError(f"there is no line from {source}.{output} to {target}.{given}")

    def draw(self, source: str, output: str, target: str, given: str) -> None:
        """With the mouse, whether it is let or not."""
        start = self._middle(f'[data-node="{source}"] .react-flow__handle.source[data-port="{output}"]')
        end = self._middle(f'[data-node="{target}"] .react-flow__handle.target[data-port="{given}"]')
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
        mouse.move(*end, steps=4)
        mouse.up()

    def refused(self, source: str, output: str, target: str, given: str) -> str:
        """Draws a line that is not let, and gives the sentence that says why."""
        said = self.page.get_by_test_id("designer-refused")
        for _ in range(3):  # the same: a port may be missed
            self.draw(source, output, target, given)
            with contextlib.suppress(Exception):
                said.wait_for(timeout=5000)
                return str(said.inner_text())
            self.page.get_by_test_id("designer-fit").click()
            self.rest()
        raise AssertionError(f"nothing was said of a line from {source}.{output} to {target}.{given}")

    def choose(self, node: str) -> None:
        """Clicks on its title, which is never under a port; a pane that is open would hide part of the canvas."""
        if self.page.get_by_test_id("designer-pane").count():
            self.close_pane()
        self.page.get_by_test_id("designer-fit").click()
        self.rest()
        self.node(node).locator("strong").click()
        self.page.get_by_test_id("designer-pane").wait_for()

    def field(self, parameter: str) -> Any:
        return self.page.locator(f'[data-testid=designer-parameter][data-parameter="{parameter}"]')

    def set(self, parameter: str, value: Any) -> None:
        """In the pane that is open."""
        field = self.field(parameter)
        field.wait_for()  # what is in it is looked at below
        if isinstance(value, bool):
            field.locator("input[type=checkbox]").set_checked(value)
        elif field.locator("select").count():
            field.locator("select").select_option(str(value))
        else:
            field.locator("input, textarea").fill(str(value))

    def saved(self) -> dict[str, Any]:
        """The draft as the keeper has it, once nothing is left to save."""
        self.page.locator("[data-testid=designer-saved][data-state=saved]").wait_for()
        answer: dict[str, Any] = self.ask(f"/pipelines/drafts/{self.draft_id}")
        return answer

    def submit(self, experiment: str) -> str:
        """The run's id, once its page is there."""
        self.page.get_by_test_id("designer-submit").click()
        self.page.get_by_label("Experiment", exact=True).fill(experiment)
        self.page.get_by_test_id("designer-submit-now").click()
        self.page.get_by_test_id("designer-run").wait_for()
        return str(self.page.url.partition("/designer/runs/")[2].partition("?")[0])

    def wait_over(self, run_id: str, status: str, limit_s: float = 400.0) -> dict[str, Any]:
        """The pipeline's run, once the page shows that it is over."""
        shown = self.page.get_by_test_id("designer-run")
        over = ("Completed", "Failed", "Canceled")
        self.until(lambda: shown.get_attribute("data-status") in over, "the pipeline runs", limit_s)
        ran: dict[str, Any] = self.ask(f"/pipelines/runs/{run_id}")
        assert ran["status"] == status, json.dumps(ran["steps"], indent=1)[:4000]
        return ran

    def until(self, holds: Any, what: str, limit_s: float = WAIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < deadline, f"after {limit_s:.0f} s: {what}"
            self.page.wait_for_timeout(100)

    def _is_at_rest(self) -> bool:
        before = self._places()
        self.page.wait_for_timeout(150)
        return before is not None and before == self._places()

    def _places(self) -> Any:
        """Where every node is; null: one of them is not in sight, or none is drawn yet."""
        return self.page.evaluate(
            """() => {
              const room = document.querySelector("[data-testid=designer-canvas]")?.getBoundingClientRect();
              if (!room) return null;
              const boxes = [...document.querySelectorAll("[data-testid=designer-node]")].map((node) => node.getBoundingClientRect());
              const isIn = (box) => box.left > room.left && box.right < room.right && box.top > room.top && box.bottom < room.bottom;
              return boxes.length && boxes.every(isIn) ? boxes.map((box) => [Math.round(box.x), Math.round(box.y)]) : null;
            }"""
        )

    def _is_seen(self, node: str) -> bool:
        seen: bool = self.page.evaluate(
            """(node) => {
              const room = document.querySelector("[data-testid=designer-canvas]")?.getBoundingClientRect();
              const pane = document.querySelector("[data-testid=designer-pane]")?.getBoundingClientRect();
              const box = document.querySelector(`[data-testid=designer-node][data-node="${node}"]`)?.getBoundingClientRect();
              if (!room || !box) return false;  // the catalog may come later than the pane
              const isFree = !pane || box.right <= pane.left || box.bottom <= pane.top;
              return isFree && box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
            }""",
            node,
        )
        return seen

    def still(self, what: Any) -> dict[str, float]:
        """Where it is, once it is there and does not move."""
        return still(self.page, what)

    def _is_still(self, what: Any) -> bool:
        before, room = what.bounding_box(), self.page.get_by_test_id("designer-canvas").bounding_box()
        self.page.wait_for_timeout(150)
        if before is None or room is None or before != what.bounding_box():
            return False
        return all(
            room[side] <= before[side] and before[side] + before[size] <= room[side] + room[size]
            for side, size in (("x", "width"), ("y", "height"))
        )

    def _middle(self, selector: str) -> tuple[float, float]:
        box = self.page.locator(selector).bounding_box()
        assert box is not None, selector
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def still(page: Any, what: Any, limit_s: float = WAIT_S) -> dict[str, float]:
    """Where something is, once it is there and does not move: what has just come may still be laid out."""
    what.wait_for()
    deadline = time.monotonic() + limit_s
    while True:
        before = what.bounding_box()
        page.wait_for_timeout(150)
        if before is not None and before == what.bounding_box():
            found: dict[str, float] = before
            return found
        assert time.monotonic() < deadline, f"after {limit_s:.0f} s it still moves: {what}"


def module(name: str, inputs: dict[str, tuple[str, str]] | None = None, **parameters: Any) -> dict[str, Any]:
    """A node, for graphs that a test begins with."""
    sources = {port: {"node": node, "port": output} for port, (node, output) in (inputs or {}).items()}
    return {"kind": "module", "module": name, "parameters": parameters, "inputs": sources}


def graph_of(name: str, nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A graph as code makes it: it lies nowhere, and is laid out when it is opened."""
    return {"version": 1, "name": name, "nodes": nodes, "layout": {}, "parameters": {}, **more}


@contextlib.contextmanager
def board_of(studio: Any, path: str = "/designer", **more: Any) -> Any:
    with studio.page(path, size=(1600, 1000), **more) as seen:
        yield Board(seen)
