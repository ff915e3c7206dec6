"""Journeys through a run's page: find why it failed, watch it live, what was logged, a million points and a million lines."""

from __future__ import annotations

import re
import struct
import time
import zlib

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.studio.designing import still
from tests.studio.filled import check_width

pytestmark = pytest.mark.slow

LOGS = "?tab=logs"
METRICS = "?tab=metrics"

FAILS = """
import sys
from azureml.core import Run
run = Run.get_context()
for step in range(30):
    run.log("train/loss", 1 / (step + 1))
    run.log("train/acc", step / 30)
print("\\x1b[32mreading pictures\\x1b[0m from", sys.argv)
for share in range(0, 101, 10):
    print(f"\\r{share}% done", end="")
print()
print("WARNING: 3 pictures are grey")

def load(picture):
    raise ValueError(f"expected 3 channels, got 4: {picture}")

load("crow.png")
"""

WAITS = """
import os, sys, time
from azureml.core import Run
run = Run.get_context()
for step in range(100000):
    if os.path.exists(sys.argv[1]):
        break
    run.log("loss", 1 / (step + 1))
    run.log("loss/rank_1", 2 / (step + 1))
    print(f"step {step}", flush=True)
    time.sleep(0.1)
print("all done")
"""

LOGS_ALL = """
import os
from azureml.core import Run
run = Run.get_context()
for step in range(40):
    for rank in range(4):
        run.log(f"train/loss/rank_{rank}", (1 + rank / 10) / (step + 1))
    run.log("val/acc", 1 - 1 / (step + 1))
    run.log("lr", 0.1 * 0.9 ** step)
    run.log("nan/now and then", float("nan") if step % 7 == 3 else step)
run.log("epochs", 40)
run.log("note", "a fine day")
for row in range(3):
    run.log_row("birds", kind="crow", weight=0.5 + row)
run.log_table("sizes", {"wing": [1, 2, 3], "kind": ["a", "b", "c"]})
for shade in ("dark", "light"):
    run.log_image("pictures", path=f"{shade}.png")
run.log_confusion_matrix("confusion", {"schema_type": "confusion_matrix", "schema_version": "1.0.0", "data": {
    "class_labels": ["crow", "rook", "jackdaw"], "matrix": [[50, 3, 1], [6, 40, 2], [0, 4, 30]]}})
table = [[50 - i, 50 - i * i // 2 if i < 10 else 0, i * i // 2 if i < 10 else 50, i] for i in range(0, 51, 5)]
run.log_accuracy_table("accuracy", {"schema_type": "accuracy_table", "schema_version": "1.0.1", "data": {
    "probability_tables": [table, table[::2]], "percentile_tables": [], "probability_thresholds": [], "percentile_thresholds": [],
    "class_labels": ["crow", "rook"]}})
run.log_residuals("residuals", {"schema_type": "residuals", "schema_version": "1.0.0", "data": {
    "bin_edges": [-2, -1, 0, 1, 2], "bin_counts": [3, 12, 14, 2]}})
run.log_predictions("predictions", {"schema_type": "predictions", "schema_version": "1.0.0", "data": {
    "bin_edges": [0, 1, 2, 3], "bin_averages": [0.6, 1.4, 2.6], "bin_errors": [0.1, 0.2, 0.1], "bin_counts": [3, 4, 5]}})
"""

RANKS = """
import os
from azureml.core import Run
run = Run.get_context()
rank = int(os.environ["RANK"])
for step in range(10):
    run.log("loss", rank * 100 + step, step=step)
    if rank == 0:
        run.log("chief only", step, step=step)
"""

MILLION = """
import sys
from azureml.core import Run
run = Run.get_context()
for step in range(1_000_000):
    run.log("loss", 5.0 if step == 777_777 else (step % 1000) / 1000, step=step)
for first in range(0, 1_000_000, 1000):
    sys.stdout.write("".join(f"line number {line} of many\\n" for line in range(first, first + 1000)))
    if first == 600_000:
        print("the needle in the hay")
"""


@pytest.fixture(scope="module")
def failed(studio):
    run_id = studio.run(
        "broken.py", FAILS, "--experiment", "birds", "--name", "the broken one", arguments=("--lr", "0.1")
    )
    studio.wait(run_id, "Failed")
    return run_id


@pytest.fixture(scope="module")
def logged(studio):
    """A run that has logged one of everything."""
    for name, shade in (("dark.png", 40), ("light.png", 200)):
        (studio.project / name).write_bytes(_png(96, 64, shade))
    run_id = studio.run("logs_all.py", LOGS_ALL, "--experiment", "birds", "--name", "one of everything")
    studio.wait(run_id, "Completed")
    return run_id


class TestWhyItFailed:
    def test_the_cause_is_first_and_leads_to_the_line(self, studio, failed):
        with studio.page("/") as seen:
            seen.page.get_by_test_id("home-failed").get_by_text("the broken one").click()
            cause = seen.page.get_by_test_id("run-cause")
            cause.get_by_text("expected 3 channels, got 4").first.wait_for()
            where = cause.get_by_test_id("run-cause-where")
            _until(seen, lambda: "rank 0" in where.inner_text())
            _until(seen, lambda: "exit code 1" in cause.inner_text())
            cause.get_by_role("region", name="Traceback").get_by_text('load("crow.png")').first.wait_for()
            seen.shot("run-failed")
            assert seen.axe() == []
            cause.get_by_test_id("run-cause-log").click()
            lines = seen.page.get_by_test_id("log-lines")
            lines.locator("[data-tone=error]", has_text="expected 3 channels").wait_for()
            # A progress bar is one line in its last state; colours are colours.
            lines.get_by_text("100% done", exact=True).wait_for()  # one: of two it is not known which
            lines.get_by_text("reading pictures", exact=True).wait_for()
            lines.locator("[data-tone=warning]").wait_for()
            seen.page.get_by_role("button", name="Next error").click()
            seen.page.get_by_text(re.compile("^1 of ")).wait_for()
            seen.shot("run-failed-log")
            assert seen.axe() == []

    def test_overview_says_what_was_run(self, studio, failed):
        with studio.page(f"/runs/{failed}") as seen:
            seen.page.get_by_test_id("run-command").get_by_text("broken.py --lr 0.1").wait_for()
            seen.page.get_by_test_id("run-phases").get_by_role("img").wait_for()
            seen.page.get_by_test_id("run-last-values").get_by_text("train/loss").wait_for()

    def test_resubmit_leads_to_the_new_run(self, studio, failed):
        with studio.page(f"/runs/{failed}") as seen:
            seen.page.get_by_test_id("run-resubmit").click()
            seen.page.wait_for_url(lambda url: "/runs/" in url and failed not in url)
            seen.page.locator("[data-testid=run][data-status=Failed]").wait_for()
            seen.page.get_by_role("button", name="More to do").click()
            seen.page.get_by_role("menuitem", name="Delete").click()
            assert seen.axe() == []
            seen.page.get_by_test_id("confirm").click()
            seen.page.get_by_text("in the bin", exact=True).wait_for()
            seen.page.get_by_role("button", name="Undo").click()
            seen.page.get_by_text("in the bin", exact=True).wait_for(state="detached")

    def test_tags_are_changed(self, studio, failed):
        with studio.page(f"/runs/{failed}") as seen:
            seen.page.get_by_role("button", name="More to do").click()
            seen.page.get_by_role("menuitem", name="Name, description, tags").click()
            seen.page.get_by_label("Tag 1", exact=True).fill("camera")
            seen.page.get_by_label("Value of tag 1").fill("east")
            assert seen.axe() == []
            seen.page.get_by_test_id("run-save").click()
            seen.page.get_by_role("list", name="Tags").get_by_text("east").wait_for()

    def test_run_that_does_not_exist(self, studio):
        with studio.page("/runs/no_such_run", check=False) as seen:
            seen.page.get_by_text("There is no such run").wait_for()


class TestLive:
    def test_metrics_and_logs_come_without_a_reload_and_a_cancel_ends_it(self, studio, tmp_path):
        ends = tmp_path / "enough"
        run_id = studio.run("waits.py", WAITS, "--name", "a long one", arguments=(str(ends),))
        with studio.page(f"/runs/{run_id}{METRICS}") as seen:
            seen.page.evaluate("window.stayed = true")
            chart = seen.page.locator("[data-chart=loss]")
            chart.get_by_role("button", name="rank 1").wait_for()
            picture = chart.get_by_role("img")
            said = picture.get_attribute("aria-label")
            _until(seen, lambda: picture.get_attribute("aria-label") != said)
            seen.page.get_by_test_id("tab-logs").click()
            lines = seen.page.get_by_test_id("log-lines")
            # Whichever: it follows the end, and on a slow machine the first ones are out of sight by now.
            lines.get_by_text(re.compile(r"^step \d+$")).last.wait_for()
            total = seen.page.get_by_test_id("log-total")
            before = total.inner_text()
            _until(seen, lambda: total.inner_text() != before)
            ends.write_text("")
            lines.get_by_text("all done").wait_for()
            seen.page.locator("[data-testid=run][data-status=Completed]").wait_for()
            assert seen.page.evaluate("window.stayed")

    def test_cancel(self, studio, tmp_path):
        run_id = studio.run("waits.py", WAITS, "--name", "one to stop", arguments=(str(tmp_path / "never"),))
        with studio.page(f"/runs/{run_id}") as seen:
            seen.page.locator("[data-testid=run][data-status=Running]").wait_for()
            seen.page.get_by_test_id("run-cancel").click()
            seen.page.locator("[data-testid=run][data-status=Canceled]").wait_for()


class TestLogged:
    def test_everything_that_can_be_logged_is_shown(self, studio, logged):
        with studio.page(f"/runs/{logged}{METRICS}") as seen:
            seen.page.locator("[data-chart='train/loss']").get_by_role("button", name="rank 3").wait_for()
            seen.page.get_by_text("a fine day").wait_for()
            for kind in ("row", "table", "image", "confusion_matrix", "accuracy_table", "residuals", "predictions"):
                seen.page.get_by_test_id(f"metrics-item-{kind}").scroll_into_view_if_needed()
            matrix = seen.page.get_by_test_id("metrics-item-confusion_matrix")
            matrix.get_by_role("cell", name="50", exact=True).wait_for()
            matrix.get_by_label("Shares of each class").check()
            matrix.get_by_role("cell", name="93 %", exact=True).wait_for()
            picture = seen.page.get_by_test_id("metrics-item-image").get_by_role("img")
            _until(seen, lambda: picture.evaluate("image => image.complete && image.naturalWidth === 96"))
            seen.page.locator("[data-chart='nan/now and then']").get_by_text("6 values not finite").wait_for()
            assert seen.axe() == []
            seen.shot("metrics-items", whole=True)

    def test_the_view_is_in_the_address(self, studio, logged):
        with studio.page(f"/runs/{logged}{METRICS}&x=relative&smooth=0.6&scale=log&q=loss") as seen:
            seen.page.locator("[data-chart='train/loss'] canvas").wait_for()
            assert seen.page.get_by_test_id("metrics-x").input_value() == "relative"
            assert seen.page.get_by_test_id("metrics-log").is_checked()
            assert seen.page.get_by_test_id("metrics-smooth").input_value() == "0.6"
            _until(seen, lambda: seen.page.get_by_test_id("metrics-chart").count() == 1)
            seen.page.get_by_role("button", name="Enlarge train/loss").click()
            seen.page.get_by_role("dialog").locator("canvas").wait_for()
            seen.page.wait_for_url(lambda url: "chart=train" in url)
            seen.shot("metrics-full")
            assert seen.axe() == []
            seen.page.keyboard.press("Escape")
            seen.page.get_by_role("dialog").wait_for(state="detached")

    def test_download(self, studio, logged):
        with studio.page(f"/runs/{logged}{METRICS}") as seen, seen.page.expect_download() as download:
            seen.page.get_by_text("CSV of all").click()
        assert download.value.suggested_filename.endswith("-metrics.csv")


class TestByRank:
    def test_one_curve_for_each_rank_or_one_for_all(self, studio):
        run_id = studio.run("ranks.py", RANKS, "--processes-per-node", "2")
        studio.wait(run_id, "Completed")
        with studio.page(f"/runs/{run_id}{METRICS}") as seen:
            chart = seen.page.locator("[data-chart=loss]")
            chart.locator("canvas").wait_for()
            assert chart.get_by_role("button", name="rank 0").count() == 0
            seen.page.get_by_test_id("metrics-by-rank").check()
            chart.get_by_role("button", name="rank 1").wait_for()
            chart.get_by_role("button", name="rank 0").wait_for()
            seen.page.wait_for_url(lambda url: "by=rank" in url)
            picture = chart.get_by_role("img")
            _until(seen, lambda: "rank 1 ends at 109" in (picture.get_attribute("aria-label") or ""))
            _until(seen, lambda: "rank 0 ends at 9," in (picture.get_attribute("aria-label") or ""))
            # What one rank alone has logged stays one curve.
            assert seen.page.locator("[data-chart='chief only']").get_by_role("button", name="rank").count() == 0
            assert seen.axe() == []
            seen.shot("metrics-by-rank")
            seen.page.get_by_test_id("metrics-by-rank").uncheck()
            chart.get_by_role("button", name="rank 1").wait_for(state="detached")
        with studio.page(f"/runs/{run_id}{METRICS}&by=rank&chart=loss") as seen:
            dialog = seen.page.get_by_role("dialog")
            dialog.get_by_role("button", name="rank 1").wait_for()
            dialog.get_by_test_id("metrics-by-rank").uncheck()
            dialog.get_by_role("button", name="rank 1").wait_for(state="detached")


class TestMillion:
    @pytest.mark.timeout(900)  # it took 100 s with five others on two cores
    def test_points_and_lines(self, studio):
        run_id = studio.run("million.py", MILLION, "--experiment", "large", "--name", "a million of each")
        studio.wait(run_id, "Completed", limit_s=600)
        with studio.page(f"/runs/{run_id}{METRICS}") as seen:
            chart = seen.page.locator("[data-chart=loss]")
            chart.get_by_text("1,000,000 values").wait_for()
            seen.shot("million-points")
            # Zoom by dragging: finer values are asked for, and the address says where.
            with seen.page.expect_response(lambda answer: "/series" in answer.url and "from=" in answer.url):
                box = still(seen.page, chart.locator(".u-over"))
                seen.page.mouse.move(box["x"] + box["width"] * 0.77, box["y"] + 50)
                seen.page.mouse.down()
                seen.page.mouse.move(box["x"] + box["width"] * 0.79, box["y"] + 60, steps=4)
                seen.page.mouse.up()
            seen.page.get_by_test_id("metrics-zoom").wait_for()
            seen.page.wait_for_url(lambda url: "zoom=" in url)
            chart.get_by_text(re.compile(r"^2[0-4],\d{3} values")).wait_for()
            seen.shot("million-points-zoomed")
            seen.page.get_by_test_id("metrics-zoom").click()
            chart.get_by_text("1,000,000 values").wait_for()

            seen.page.get_by_test_id("tab-logs").click()
            lines = seen.page.get_by_test_id("log-lines")
            lines.get_by_text("line number 999999 of many").wait_for()
            lines.press("Home")
            lines.get_by_text("line number 0 of many").wait_for()
            _until(seen, lambda: lines.evaluate("box => box.scrollTop") == 0)
            lines.evaluate("box => { box.scrollTop = box.scrollHeight / 2 }")
            lines.get_by_text(re.compile("^line number (49|50)9?")).first.wait_for()
            assert lines.locator("[data-line]").count() < 200
            seen.page.get_by_test_id("log-find").fill("needle")
            lines.locator("mark", has_text="needle").wait_for()
            seen.page.wait_for_url(lambda url: "line=601001" in url)
            seen.shot("million-lines")
            lines.press("End")
            lines.get_by_text("line number 999999 of many").wait_for()
        with studio.page(f"/runs/{run_id}{LOGS}&line=250000") as seen:
            seen.page.get_by_text("line number 249999 of many").wait_for()


class TestLooks:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
    def test_all_tabs(self, studio, failed, logged, size, dark):
        name = f"{size[0]}-{'dark' if dark else 'light'}"
        with studio.page(f"/runs/{failed}", size=size, dark=dark) as seen:
            seen.page.get_by_test_id("run-cause-summary").wait_for()
            seen.page.get_by_test_id("run-phases").wait_for()
            self._look(seen, f"run-overview-{name}", size)
            seen.page.get_by_test_id("tab-logs").click()
            seen.page.get_by_test_id("log-lines").get_by_text("reading pictures", exact=True).wait_for()
            self._look(seen, f"run-logs-{name}", size)
            seen.page.get_by_test_id("log-wrap").check()
            seen.page.get_by_test_id("log-lines").get_by_text("reading pictures", exact=True).wait_for()
            self._look(seen, f"run-logs-wrapped-{name}", size)
            seen.page.get_by_test_id("log-wrap").uncheck()
            seen.open(f"{studio.base}/runs/{logged}{METRICS}")
            seen.page.locator("[data-chart=lr] canvas").wait_for()
            self._look(seen, f"run-metrics-{name}", size)
            confusion = seen.page.get_by_test_id("metrics-item-confusion_matrix")
            confusion.scroll_into_view_if_needed()
            confusion.get_by_role("cell", name="50", exact=True).wait_for()
            self._look(seen, f"run-items-{name}", size)

    @staticmethod
    def _look(seen, name, size):
        seen.shot(name)
        assert seen.axe() == []
        check_width(seen, size[0])


def _until(seen, holds, limit_s=120.0):
    """Waits until it holds. Playwright's own wait_for_function needs `eval`, which the page's policy refuses."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"it did not come about at {seen.page.url}"
        seen.page.wait_for_timeout(50)


def _png(width: int, height: int, shade: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = (b"".join(bytes((shade, x * 2 % 256, y * 3 % 256)) for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in pixels))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
