"""Journey: watch a tuning, its leader board as it grows, why a child was stopped, how what was set went with what came out."""

from __future__ import annotations

import json

import pytest

from rookery.testing.browser import PHONE, WIDE

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


STOPPED = "() => document.querySelector('[data-testid=tuning-progress]').innerText.includes('stopped early')"


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
            assert page.locator("[data-testid=run]").get_attribute("data-status") == "Running"
            # Of the first two one is far behind the other: it cannot stay.
            page.wait_for_function(STOPPED, timeout=200_000)
            gate.touch()
            page.wait_for_selector("[data-testid=run][data-status=Completed]", timeout=200_000)
            page.wait_for_function(
                "() => document.querySelector('[data-testid=tuning-progress]').innerText.startsWith('8 of 8')"
            )
            told = json.loads(studio.cli("show", run_id, "--json"))["tuning"]
            stopped = [trial for trial in told["trials"] if trial["stopped"]]
            assert stopped, told
            board = page.locator("[data-testid=tuning-table]")
            first = board.locator("[data-row]").first
            assert first.get_attribute("data-row") == told["best"]
            assert "Bandit at interval" in board.inner_text()
            assert "uniform(0, 1)" in page.locator("[data-testid=tuning-plan]").inner_text()
            lines = page.locator("[data-testid=tuning-parallel] [data-line]")
            assert lines.count() == 8
            assert page.locator("[data-testid=tuning-parallel] [data-axis]").count() == 3
            assert "lr" in page.locator("[data-testid=tuning-importance]").inner_text()
            board.get_by_role("button", name="lr").click()
            values = [float(text) for text in board.locator("[data-row] > [role=cell]:nth-child(5)").all_inner_texts()]
            assert values == sorted(values, reverse=True)
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
            width = seen.page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
            assert width <= 0
            seen.check()
