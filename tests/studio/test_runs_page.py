"""Journeys through the runs and experiments pages: submit and watch live, cancel and resubmit, filters, columns, 100,000 runs, a phone."""

from __future__ import annotations

import json

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.conftest import stop_keepers
from tests.studio.conftest import Studio
from tests.studio.designing import still
from tests.studio.filled import check_width
from tests.studio.many import fill
from tests.studio.test_run_page import _until

pytestmark = pytest.mark.slow

TRAINS = """
import argparse
from azureml.core import Run
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
lr = parser.parse_args().lr
run = Run.get_context()
for step in range(20):
    run.log("loss", lr + 1 / (step + 1))
    run.log("acc", 1 - lr / (step + 1))
"""
WAITS = """
import os, sys, time
from azureml.core import Run
run = Run.get_context()
for step in range(100000):
    if os.path.exists(sys.argv[1]):
        break
    run.log("loss", 1 / (step + 1))
    run.log("progress", min(0.9, step / 100))
    time.sleep(0.2)
"""
BROKEN = "raise ValueError('expected 3 channels, got 4')\n"
MANY = 100_000


@pytest.fixture(scope="module")
def trained(studio):
    """Three runs with metrics and parameters, and one that failed: ids by learning rate, and 'broken'."""
    found = {}
    for lr in ("0.1", "0.2", "0.3"):
        options = ("--experiment", "birds", "--name", f"rate {lr}", "--tag", f"lr={lr}")
        found[lr] = studio.run("trains.py", TRAINS, *options, arguments=("--lr", lr))
    found["broken"] = studio.run("broken.py", BROKEN, "--experiment", "cats", "--name", "the broken one")
    for name, run_id in found.items():
        studio.wait(run_id, "Failed" if name == "broken" else "Completed")
    return found


def _row(seen, run_id):
    return seen.page.locator(f'[data-row="{run_id}"]')


class TestLive:
    def test_submit_and_watch(self, studio, trained, tmp_path):
        ends = tmp_path / "enough"
        with studio.page("/") as seen:
            seen.page.evaluate("window.stayed = true")
            run_id = studio.run("waits.py", WAITS, "--experiment", "birds", "--name", "watched", arguments=(str(ends),))
            item = seen.page.get_by_test_id("home-running").locator(f'[data-run="{run_id}"]')
            live = item.get_by_test_id("home-live")
            live.get_by_text("%").wait_for()
            live.get_by_role("img", name="loss over its steps").wait_for()
            seen.shot("home-live")
            assert seen.axe() == []
            seen.page.locator("[data-testid=nav-runs]:visible").click()
            row = _row(seen, run_id)
            row.get_by_text("Running", exact=True).wait_for()
            row.get_by_role("img", name="loss over its steps").wait_for()
            ends.write_text("")
            row.get_by_text("Completed").wait_for()
            assert seen.page.evaluate("window.stayed")  # it was never loaded anew

    def test_cancel_and_resubmit(self, studio, trained, tmp_path):
        run_id = studio.run(
            "waits.py", WAITS, "--experiment", "birds", "--name", "to stop", arguments=(str(tmp_path / "never"),)
        )
        with studio.page("/runs?q=to+stop") as seen:
            row = _row(seen, run_id)
            row.get_by_text("Running", exact=True).wait_for()
            row.get_by_role("checkbox").check()
            seen.page.get_by_test_id("select-cancel").click()
            seen.page.get_by_test_id("confirm").click()
            row.get_by_text("Canceled").wait_for()
            # What is checked before that would go with it.
            seen.page.get_by_test_id("runs-selection").wait_for(state="detached")
            row.get_by_role("checkbox").check()
            seen.page.get_by_test_id("select-resubmit").click()
            seen.page.get_by_role("button", name="Open it").click()
            seen.page.wait_for_url(lambda url: "/runs/" in url and run_id not in url)
            again = seen.page.url.rpartition("/")[2].partition("?")[0]
            studio.wait(again, "Running")
            studio.cli("stop", again)
            seen.page.locator("[data-testid=run][data-status=Canceled]").wait_for()


class TestSelection:
    def test_a_range_is_tagged_deleted_and_taken_back(self, studio, trained):
        with studio.page("/runs?q=rate&sort=name") as seen:
            _row(seen, trained["0.1"]).get_by_role("checkbox").check()
            _row(seen, trained["0.3"]).get_by_role("checkbox").click(modifiers=["Shift"])
            bar = seen.page.get_by_test_id("runs-selection")
            bar.get_by_text("3 selected").wait_for()
            _until(seen, lambda: seen.page.get_by_test_id("select-compare").is_enabled())
            seen.page.get_by_test_id("select-tag").click()
            seen.page.get_by_test_id("tag-set").fill("team=vision")
            assert seen.axe() == []
            seen.shot("runs-selected")
            seen.page.get_by_test_id("tag-save").click()
            seen.page.get_by_text("Tagged 3 runs.").wait_for()
            assert json.loads(studio.cli("show", trained["0.2"], "--json"))["tags"]["team"] == "vision"
            bar.get_by_role("button", name="More to do with them").click()
            seen.page.get_by_role("menuitem", name="Delete").click()
            seen.page.get_by_test_id("confirm").click()
            seen.page.get_by_test_id("empty").wait_for()
            seen.page.get_by_role("button", name="Undo").click()
            _row(seen, trained["0.1"]).wait_for()

    def test_from_the_keyboard(self, studio, trained):
        with studio.page("/runs?q=rate&sort=name") as seen:
            _row(seen, trained["0.1"]).wait_for()
            seen.page.get_by_test_id("runs-table").focus()
            seen.page.keyboard.press("Space")
            seen.page.keyboard.press("Shift+ArrowDown")
            seen.page.get_by_text("2 selected").wait_for()
            seen.page.keyboard.press("Control+a")
            seen.page.get_by_text("3 selected").wait_for()
            seen.page.keyboard.press("Escape")
            seen.page.get_by_test_id("runs-selection").wait_for(state="detached")
            seen.page.keyboard.press("Control+a")
            seen.page.keyboard.press("Control+k")
            seen.page.get_by_role("option", name="Delete 3 runs").wait_for()


class TestFilters:
    def test_by_metric_and_parameter_and_shared_by_address(self, studio, trained):
        with studio.page("/runs") as seen:
            _row(seen, trained["broken"]).wait_for()
            seen.page.get_by_test_id("runs-filter").click()
            seen.page.get_by_test_id("filter-key").fill("loss")
            seen.page.get_by_test_id("filter-op").select_option("gt")
            seen.page.get_by_test_id("filter-add").click()
            seen.page.get_by_text("What should it be compared with?").wait_for()
            assert seen.axe() == []
            seen.shot("runs-filter")
            seen.page.get_by_test_id("filter-value").fill("0.2")
            seen.page.get_by_test_id("filter-add").click()
            _row(seen, trained["broken"]).wait_for(state="detached")
            _row(seen, trained["0.3"]).wait_for()
            _row(seen, trained["0.1"]).wait_for(state="detached")
            seen.page.get_by_test_id("runs-filter").click()
            seen.page.get_by_test_id("filter-kind").select_option("tag")
            seen.page.get_by_test_id("filter-key").fill("lr")
            seen.page.get_by_test_id("filter-value").fill("0.3")
            seen.page.get_by_test_id("filter-add").click()
            _row(seen, trained["0.2"]).wait_for(state="detached")
            address = seen.page.url
            assert seen.axe() == []
            seen.shot("runs-filtered")
        with studio.page(address[len(studio.base) :]) as seen:
            _row(seen, trained["0.3"]).wait_for()
            _until(seen, lambda: seen.page.get_by_test_id("filter-chip").count() == 2)
            _until(seen, lambda: seen.page.locator("[data-row]").count() == 1)
            seen.page.get_by_role("button", name="Take away: lr is 0.3").click()
            _row(seen, trained["0.2"]).wait_for()

    def test_columns_are_chosen_ordered_and_remembered(self, studio, trained):
        with studio.page("/experiments/birds?q=rate") as seen:
            row = _row(seen, trained["0.1"])
            row.wait_for()
            seen.page.get_by_test_id("runs-columns").click()
            seen.page.get_by_test_id("columns-search").fill("lr")
            seen.page.get_by_role("button", name="Show lr").first.click()
            seen.page.get_by_role("columnheader", name="lr").wait_for()
            seen.page.get_by_role("button", name="Hide Compute").click()
            seen.page.get_by_role("columnheader", name="Compute").wait_for(state="detached")
            seen.page.get_by_role("button", name="Move lr to the left").click()
            assert seen.axe() == []
            seen.shot("runs-columns")
            shown = seen.page.get_by_role("columnheader")
            _until(seen, lambda: shown.all_inner_texts()[-2:-1] == ["lr"])
            heads = shown.all_inner_texts()
            assert heads.index("lr") == len(heads) - 2
            seen.page.reload()
            studio.wait_live(seen)
            row.get_by_text("0.1", exact=True).wait_for()
            _until(seen, lambda: shown.all_inner_texts() == heads)


class TestExperiments:
    def test_lists_and_archives_with_undo(self, studio, trained):
        with studio.page("/experiments") as seen:
            seen.page.locator('[data-row="birds"]').get_by_text("Completed").or_(
                seen.page.locator('[data-row="birds"]').get_by_text("Canceled")
            ).first.wait_for()
            seen.shot("experiments")
            assert seen.axe() == []
            seen.page.get_by_role("button", name="Change cats").click()
            assert seen.axe() == []
            seen.page.get_by_test_id("experiment-archive").click()
            seen.page.locator('[data-row="cats"]').wait_for(state="detached")
            seen.page.get_by_role("button", name="Undo").click()
            seen.page.locator('[data-row="cats"]').wait_for()
            seen.page.locator('[data-row="birds"]').get_by_role("link", name="birds").click()
            seen.page.wait_for_url("**/experiments/birds")
            _row(seen, trained["0.1"]).wait_for()


class TestPhone:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_filter_select_and_open(self, studio, trained, dark):
        shade = "dark" if dark else "light"
        with studio.page("/runs?q=rate", size=PHONE, dark=dark) as seen:
            row = _row(seen, trained["0.1"])
            row.get_by_role("checkbox").check()
            seen.page.get_by_test_id("runs-selection").wait_for()
            seen.shot(f"runs-phone-selected-{shade}")
            seen.page.get_by_test_id("runs-filter").click()
            seen.page.get_by_test_id("filter-key").wait_for()
            seen.shot(f"runs-phone-filter-{shade}")
            box = still(seen.page, seen.page.get_by_role("dialog", name="Filter"))
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE[0]
            assert seen.axe() == []
            check_width(seen, PHONE[0])
            seen.page.keyboard.press("Escape")
            row.get_by_role("link").first.click()
            seen.page.wait_for_url(f"**/runs/{trained['0.1']}")


@pytest.fixture(scope="module")
def crowded(built, browser, tmp_path_factory):
    """A workspace with 100,000 runs."""
    folder = tmp_path_factory.mktemp("crowded")
    made = Studio(folder, browser)
    stop_keepers(str(folder))
    fill(str(made.project / ".rookery"), MANY)
    yield made
    stop_keepers(str(folder))


class TestMany:
    def test_a_hundred_thousand_runs(self, crowded):
        with crowded.page("/runs", size=WIDE) as seen:
            seen.page.evaluate("window.stayed = true")
            _row(seen, f"many_{MANY - 1}").wait_for()
            foot = seen.page.get_by_text("of 100,000 runs loaded")
            foot.wait_for()
            table = seen.page.get_by_test_id("runs-table")
            # Only what is in sight is drawn, and more comes as one scrolls.
            assert seen.page.locator("[data-row]").count() < 80
            table.evaluate("box => { box.scrollTop = box.scrollHeight }")
            seen.page.get_by_text("600 of 100,000 runs loaded").wait_for()
            table.evaluate("box => { box.scrollTop = box.scrollHeight }")
            seen.page.get_by_text("1,100 of 100,000 runs loaded").wait_for()
            seen.shot("runs-many")
            # Sorted by a metric: the highest of all, not of those loaded.
            seen.page.get_by_role("columnheader", name="loss").get_by_role("button").click()
            _row(seen, f"many_{_with_loss(MANY - 1)}").wait_for()
            seen.page.get_by_role("columnheader", name="loss").get_by_role("button").click()
            _row(seen, "many_0").wait_for()
            # Filtered by a word, by a status, by a metric.
            seen.page.get_by_test_id("runs-search").fill("flight 4242")
            _row(seen, "many_42420").wait_for()
            seen.page.get_by_test_id("runs-search").fill("")
            seen.page.get_by_test_id("runs-status").select_option("Failed")
            seen.page.get_by_text("of 20,000 runs loaded").wait_for()
            seen.page.get_by_role("checkbox", name="Select all that are shown").check()
            seen.page.get_by_role("button", name="Select all 20,000 that fit").wait_for()
            assert seen.page.evaluate("window.stayed")
            assert seen.axe() == []

    def test_first_page_is_small(self, crowded):
        """How long it takes is for benchmarks to say; here, that no answer grows with what is stored."""
        with crowded.page("/runs") as seen:
            _row(seen, f"many_{MANY - 1}").wait_for()
            sizes = seen.page.evaluate(
                "performance.getEntriesByType('resource').filter(each => each.name.endsWith('/search/runs')).map(each => each.decodedBodySize)"
            )
            assert sizes
            assert max(sizes) < 1_000_000, sizes

    def test_all_that_fit_are_selected(self, crowded):
        with crowded.page("/runs?where=param:lr:is:0.3;metric:loss:lt:6000") as seen:
            seen.page.get_by_text("of 600 runs loaded").wait_for()
            seen.page.get_by_role("checkbox", name="Select all that are shown").check()
            seen.page.get_by_test_id("select-all").click()
            seen.page.get_by_text("600 selected").wait_for()
            seen.page.get_by_test_id("select-tag").click()
            seen.page.get_by_test_id("tag-set").fill("seen=yes")
            seen.page.get_by_test_id("tag-save").click()
            seen.page.get_by_text("Tagged 600 runs.").wait_for()


def _with_loss(loss: int) -> int:
    """Which run has it."""
    return loss * pow(7919, -1, MANY) % MANY
