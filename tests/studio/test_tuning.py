"""Journey: watch a tuning, its leader board as it grows, why a child was stopped, how what was set went with what came out."""

from __future__ import annotations

import json

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.studio.filled import check_width
from tests.studio.test_run_page import _until

pytestmark = pytest.mark.slow

TRAINS = """
import argparse, os, time
from azureml.core import Run
given = argparse.ArgumentParser()
given.add_argument("--lr", type=float)
given.add_argument("--kind")
given.add_argument("--gate")
given = given.parse_args()
run = Run.get_context()
bonus = 0.2 if given.kind == "wide" else 0.0
while True:
    run.log("accuracy", 0.6 - abs(given.lr - 0.3) + bonus)  # again and again: so it is judged beside all that have come
    if os.path.exists(given.gate):
        break
    time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def tuning(studio):
    """Eight children, two at a time, which end once the gate is open; a Bandit stops the bad ones."""
    gate = studio.folder / "gate"
    (studio.project / "tries.py").write_text(TRAINS)
    run_id = studio.cli(
        "tune", "--detach", "--name", "search for a net", "-p", "lr=uniform(0,1)", "-p", "kind=choice('wide','deep')", "--maximize",
        "accuracy", "-n", "8", "--concurrent", "2", "--seed", "5", "--policy", "bandit(slack_factor=0.3,delay_evaluation=2)",
        "--experiment", "search", "tries.py", "--gate", str(gate),
    ).strip()  # fmt: skip
    return run_id, gate


class TestWatchATuning:
    def test_the_leader_board_grows_and_says_why_some_were_stopped(self, studio, tuning):
        run_id, gate = tuning
        with studio.page(f"/runs/{run_id}") as seen:
            page = seen.page
            page.wait_for_selector("[data-testid=tuning]")
            page.wait_for_selector("[data-testid=tuning-best-value]")  # while it runs, without a reload
            page.wait_for_selector("[data-testid=run][data-status=Running]")
            # Of the first two one is far behind the other: it cannot stay.
            progress = page.locator("[data-testid=tuning-progress]")
            _until(seen, lambda: "stopped early" in progress.inner_text(), limit_s=200)
            gate.touch()
            page.wait_for_selector("[data-testid=run][data-status=Completed]", timeout=200_000)
            _until(seen, lambda: progress.inner_text().startswith("8 of 8"))
            told = json.loads(studio.cli("show", run_id, "--json"))["tuning"]
            stopped = [trial for trial in told["trials"] if trial["stopped"]]
            assert stopped, told
            board = page.locator("[data-testid=tuning-table]")
            first = board.locator("[data-row]").first
            _until(seen, lambda: first.get_attribute("data-row") == told["best"])
            board.get_by_text("Bandit at interval").first.wait_for()
            page.locator("[data-testid=tuning-plan]").get_by_text("uniform(0, 1)").first.wait_for()
            lines = page.locator("[data-testid=tuning-parallel] [data-line]")
            _until(seen, lambda: lines.count() == 8)
            axes = page.locator("[data-testid=tuning-parallel] [data-axis]")
            _until(seen, lambda: axes.count() == 3)
            page.locator("[data-testid=tuning-importance]").get_by_text("lr").first.wait_for()
            board.get_by_role("button", name="lr").click()
            cells = board.locator("[data-row] > [role=cell]:nth-child(5)")

            def values() -> list[float]:
                return [float(text) for text in cells.all_inner_texts()]

            _until(seen, lambda: (found := values()) == sorted(found, reverse=True))
            first.locator("a").click()
            page.wait_for_selector("[data-testid=run-params]")
            seen.check()

    def test_the_best_are_compared_with_one_click(self, studio, tuning):
        run_id, gate = tuning
        gate.touch()
        studio.wait(run_id, "Completed")
        with studio.page(f"/runs/{run_id}") as seen:
            seen.page.get_by_role("link", name="Compare the best 5").click()
            seen.page.wait_for_selector("[data-testid=compare-runs] [data-row] >> nth=4")
            seen.check()

    @pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (WIDE, True), (PHONE, False)])
    def test_looks_right_and_can_be_used_by_everybody(self, studio, tuning, size, dark):
        run_id, gate = tuning
        gate.touch()
        studio.wait(run_id, "Completed")
        with studio.page(f"/runs/{run_id}", size=size, dark=dark) as seen:
            seen.page.wait_for_selector("[data-testid=tuning-parallel] [data-line]")
            seen.shot(f"tuning-{size[0]}-{'dark' if dark else 'light'}", whole=True)
            seen.page.locator("[data-testid=tuning-parallel]").scroll_into_view_if_needed()
            seen.shot(f"tuning-lines-{size[0]}-{'dark' if dark else 'light'}")
            assert seen.axe() == []
            check_width(seen, seen.page.evaluate("window.innerWidth"))
            seen.check()
