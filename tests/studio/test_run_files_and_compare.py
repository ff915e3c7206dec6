"""Journeys: look at what a run left and at its code, what changed since another run, its nodes, run it again; compare three runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.studio.designing import still
from tests.studio.filled import check_width
from tests.studio.test_run_page import _png, _until

pytestmark = pytest.mark.slow

ONNX = Path(__file__).parent.parent / "server" / "files" / "net.onnx"

NAMES = ("crow", "rook", "jackdaw")  # no part of any run's id, which is searched too
TRAINS = '''
"""Trains a small net."""
import argparse, json, os, shutil, time
from azureml.core import Run

given = argparse.ArgumentParser()
given.add_argument("--lr", type=float)
given.add_argument("--net", default="small")
given = given.parse_args()
run = Run.get_context()
for step in range(30):
    run.log("loss", given.lr * 10 / (step + 1))
    run.log("val/acc", 1 - given.lr / (step + 1))
for _ in range(2):
    run.log_image("mask", path="dark.png" if given.lr > 0.05 else "light.png")
os.makedirs("outputs/net", exist_ok=True)
with open("outputs/report.json", "w") as f:
    json.dump({"lr": given.lr, "layers": [{"kind": "conv", "size": n} for n in (3, 5)], "note": "fine"}, f)
with open("outputs/birds.csv", "w") as f:
    f.write("kind,weight\\ncrow,0.5\\nrook,0.42\\n")
with open("outputs/net/config.yaml", "w") as f:
    f.write("# how it was trained\\nlr: %s\\nnet: '%s'\\n" % (given.lr, given.net))
with open("outputs/net/weights.bin", "wb") as f:
    f.write(bytes(range(256)) * 4)
shutil.copy("net.onnx", "outputs/net/net.onnx")
shutil.copy("dark.png", "outputs/plot.png")
print("trained with", given.lr)
'''


@pytest.fixture(scope="module")
def runs(studio):
    """Three runs of one script; before the third its code has changed."""
    for name, shade in (("dark.png", 40), ("light.png", 200)):
        (studio.project / name).write_bytes(_png(96, 64, shade))
    shutil.copy(ONNX, studio.project / "net.onnx")
    (studio.project / "old.txt").write_text("goes away\n")
    made = []
    for number, (lr, net) in enumerate((("0.1", "small"), ("0.01", "small"), ("0.0001", "large"))):
        text = TRAINS
        if number == 2:
            text = TRAINS.replace("range(30):", "range(40):  # longer")
            (studio.project / "old.txt").unlink()
            (studio.project / "new.yaml").write_text("a: 1\n")
        options = ("--experiment", "birds", "--name", NAMES[number])
        made.append(studio.run("train.py", text, *options, arguments=("--lr", lr, "--net", net)))
    for run_id in made:
        studio.wait(run_id, "Completed")
    return made


class TestOutputs:
    def test_every_kind_of_file_is_shown_as_what_it_is(self, studio, runs):
        with studio.page(f"/runs/{runs[0]}?tab=outputs") as seen:
            page = seen.page
            tree = page.get_by_test_id("files-tree")
            tree.get_by_role("button", name="report.json").click()
            page.get_by_test_id("file-json").get_by_text("fine").wait_for()
            second = page.get_by_test_id("file-json").get_by_role("button", name=re.compile("^1"))
            second.click()
            page.get_by_test_id("file-json").get_by_text("5", exact=True).wait_for()
            page.get_by_test_id("file-json").get_by_role("button", name="layers").click()
            second.wait_for(state="detached")
            page.get_by_role("button", name="As text").click()
            page.get_by_test_id("file-text").wait_for()
            tree.get_by_role("button", name="birds.csv").click()
            page.get_by_test_id("file-table").get_by_role("cell", name="rook").wait_for()
            assert seen.axe() == []
            tree.get_by_role("button", name="plot.png").click()
            picture = page.get_by_test_id("file-picture").get_by_role("img")
            _until(seen, lambda: picture.evaluate("image => image.complete && image.naturalWidth === 96"))
            # From the keyboard: open a folder, go into it, choose.
            tree.locator("[data-row='outputs/net']").focus()
            page.keyboard.press("ArrowRight")
            tree.get_by_role("button", name="config.yaml").wait_for()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            page.get_by_test_id("file-text").get_by_text("how it was trained").wait_for()
            tree.get_by_role("button", name="net.onnx").click()
            page.get_by_test_id("file-onnx").get_by_text("Inputs").wait_for()
            assert seen.axe() == []
            tree.get_by_role("button", name="weights.bin").click()
            page.get_by_text("No preview").wait_for()
            page.wait_for_url(lambda url: "file=outputs%2Fnet%2Fweights.bin" in url)
            with page.expect_download() as download:
                page.get_by_test_id("file-download").click()
            assert download.value.suggested_filename == "weights.bin"
            with page.expect_download() as download:
                page.get_by_test_id("files-zip").click()
            assert download.value.suggested_filename.endswith(".zip")
            page.reload()
            tree.get_by_role("button", name="weights.bin").wait_for()
            page.get_by_text("No preview").wait_for()


class TestSnapshot:
    def test_browse_and_diff(self, studio, runs):
        with studio.page(f"/runs/{runs[2]}?tab=snapshot") as seen:
            page = seen.page
            # The script is what one wants to see first.
            page.get_by_test_id("file-text").get_by_text("argparse", exact=False).first.wait_for()
            assert seen.axe() == []
            # A picture of the source folder is shown as one.
            page.get_by_test_id("files-tree").get_by_role("button", name="light.png").click()
            picture = page.get_by_test_id("file-picture").get_by_role("img")
            _until(seen, lambda: picture.evaluate("image => image.complete && image.naturalWidth === 96"))
            page.get_by_test_id("snapshot-compare").click()
            picker = page.get_by_test_id("run-picker")
            picker.get_by_role("button", name="crow").wait_for()
            assert seen.axe() == []
            page.get_by_test_id("run-picker-find").fill("crow")
            picker.get_by_role("button", name="rook").wait_for(state="detached")
            picker.get_by_role("button", name="crow").click()
            diff = page.get_by_test_id("snapshot-diff")
            changed = diff.locator("[data-row='train.py']")
            changed.locator("[data-tone=added]", has_text="range(40):  # longer").wait_for()
            changed.locator("[data-tone=removed]", has_text="range(30)").wait_for()
            _until(seen, lambda: "new" in diff.locator("[data-row='new.yaml']").inner_text())
            _until(seen, lambda: "removed" in diff.locator("[data-row='old.txt']").inner_text())
            page.wait_for_url(lambda url: f"against={runs[0]}" in url)
            seen.shot("snapshot-diff")
            assert seen.axe() == []

    def test_the_same_code(self, studio, runs):
        with studio.page(f"/runs/{runs[1]}?tab=snapshot&against={runs[0]}") as seen:
            seen.page.get_by_text("The code is the same").wait_for()


class TestNodesAndReproduce:
    def test_who_ran_when(self, studio, runs):
        with studio.page(f"/runs/{runs[0]}?tab=nodes") as seen:
            rows = seen.page.get_by_test_id("nodes-gantt")
            rows.get_by_role("row", name=re.compile("Rank 0.*exit code 0")).wait_for()
            rows.get_by_role("row", name=re.compile("Node 0")).wait_for()
            seen.page.get_by_test_id("nodes-ranks").uncheck()
            rows.get_by_role("row", name=re.compile("Rank 0")).wait_for(state="detached")
            seen.page.wait_for_url(lambda url: "ranks=none" in url)
            assert seen.axe() == []

    def test_run_again(self, studio, runs):
        with studio.page(f"/runs/{runs[0]}?tab=reproduce") as seen:
            seen.page.locator("[data-testid=run-reproduce][data-possible=true]").wait_for()
            seen.page.get_by_test_id("reproduce-same").get_by_text("source folder").first.wait_for()
            assert seen.axe() == []
            seen.shot("run-reproduce")
            seen.page.get_by_label("Name").fill("crow again")
            seen.page.get_by_test_id("reproduce-go").click()
            seen.page.wait_for_url(lambda url: "/runs/" in url and runs[0] not in url)
            seen.page.get_by_role("heading", name="crow again").wait_for()
            seen.page.locator("[data-testid=run][data-status=Completed]").wait_for(timeout=200_000)


class TestCompare:
    def test_three_runs(self, studio, runs):
        with studio.page(f"/compare?runs={','.join(runs[:2])}") as seen:
            page = seen.page
            page.get_by_role("heading", name="Compare 2 runs").wait_for()
            page.get_by_test_id("compare-add").click()
            page.get_by_test_id("run-picker-find").fill("jackdaw")
            page.get_by_test_id("run-picker").get_by_role("button", name="jackdaw").click()
            page.get_by_role("heading", name="Compare 3 runs").wait_for()
            page.get_by_test_id("compare-runs").locator(f"[data-row={runs[2]}]").wait_for()
            picture = page.locator("[data-chart=loss]").get_by_role("img")
            for name in NAMES:
                _until(seen, lambda name=name: f"{name} ends at" in (picture.get_attribute("aria-label") or ""))
            assert seen.axe() == []
            page.get_by_role("button", name="Show rook").click()
            _until(seen, lambda: "rook" not in picture.get_attribute("aria-label"))
            page.wait_for_url(lambda url: f"hide={runs[1]}" in url)
            page.get_by_role("button", name="Show rook").click()

            page.get_by_test_id("tab-differences").click()
            table = page.get_by_role("table")
            row = table.locator("[data-row='params:lr']")
            _until(seen, lambda: row.get_by_role("cell").all_inner_texts() == ["0.1", "0.01", "0.0001"])
            _until(seen, lambda: row.locator("[data-other]").count() == 2)
            assert table.locator("[data-row='attributes:experiment']").count() == 0
            page.get_by_test_id("compare-only").uncheck()
            table.locator("[data-row='attributes:experiment']").wait_for()
            assert seen.axe() == []

            page.get_by_test_id("tab-parallel").click()
            parallel = page.get_by_test_id("compare-parallel")
            parallel.locator("[data-axis='params:lr']").wait_for()
            _until(seen, lambda: parallel.locator("[data-line]").count() == 3)
            # A range chosen by dragging along an axis: the runs outside of it fade, and the address has it.
            axis = parallel.get_by_role("button", name="Choose a range of lr")
            box = still(page, axis)
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 2)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.45, steps=4)
            page.mouse.up()
            parallel.get_by_text("2 of 3 runs are within.").wait_for()
            _until(seen, lambda: parallel.locator("[data-inside]").count() == 2)
            page.wait_for_url(lambda url: "brush=params" in url)
            assert seen.axe() == []
            seen.shot("compare-brush")
            page.get_by_test_id("compare-brush").click()
            page.get_by_test_id("compare-brush").wait_for(state="detached")
            axis.press("ArrowDown")  # the same from the keyboard: the upper end
            parallel.get_by_text("2 of 3 runs are within.").wait_for()
            axis.press("Escape")
            page.get_by_test_id("compare-brush").wait_for(state="detached")
            page.get_by_role("button", name="Axes").click()
            page.get_by_role("checkbox", name="duration").check()
            parallel.locator("[data-axis='attributes:duration_s']").wait_for()
            assert seen.axe() == []
            page.keyboard.press("Escape")

            page.get_by_test_id("tab-scatter").click()
            page.get_by_test_id("scatter-y").select_option("metrics:val/acc")
            scatter = page.get_by_test_id("compare-scatter")
            _until(seen, lambda: scatter.locator("[data-point]").count() == 3)
            page.wait_for_url(lambda url: "sy=metrics" in url)
            assert seen.axe() == []

            page.get_by_test_id("tab-pictures").click()
            pictures = page.get_by_test_id("compare-pictures").get_by_role("img", name=re.compile("^mask of "))
            _until(seen, lambda: pictures.count() == 3)
            for picture in pictures.all():
                _until(seen, lambda picture=picture: picture.evaluate("image => image.naturalWidth === 96"))
            assert seen.axe() == []

    def test_too_few_and_one_that_is_not_there(self, studio, runs):
        with studio.page(f"/compare?runs={runs[0]}") as seen:
            seen.page.get_by_text("One run is not enough").wait_for()
            assert seen.axe() == []
        with studio.page(f"/compare?runs={runs[0]},{runs[1]},gone", check=False) as seen:
            seen.page.get_by_test_id("error").get_by_text("does not exist", exact=False).wait_for()
            seen.page.locator("li", has_text="gone").get_by_role("button", name="Take it out").click()
            seen.page.get_by_role("heading", name="Compare 2 runs").wait_for()


class TestLooks:
    # Width and theme do not touch each other: each is seen twice, not four times.
    @pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (PHONE, True)], ids=["wide-light", "phone-dark"])
    def test_all_parts(self, studio, runs, size, dark):
        name = f"{size[0]}-{'dark' if dark else 'light'}"
        views = {
            "outputs": (f"/runs/{runs[0]}?tab=outputs&file=outputs/report.json", "[data-testid=file-json]"),
            "onnx": (f"/runs/{runs[0]}?tab=outputs&file=outputs/net/net.onnx", "[data-testid=file-onnx]"),
            "snapshot": (f"/runs/{runs[2]}?tab=snapshot", "[data-testid=file-text]"),
            "diff": (f"/runs/{runs[2]}?tab=snapshot&against={runs[0]}", "[data-testid=diff-file]"),
            "nodes": (f"/runs/{runs[0]}?tab=nodes", "[data-testid=nodes-gantt]"),
            "reproduce": (f"/runs/{runs[0]}?tab=reproduce", "[data-testid=reproduce-go]"),
            "compare-curves": (f"/compare?runs={','.join(runs)}", "[data-chart=loss] canvas"),
            "compare-differences": (f"/compare?runs={','.join(runs)}&tab=differences", "[data-row='params:lr']"),
            "compare-parallel": (f"/compare?runs={','.join(runs)}&tab=parallel", "[data-line]"),
            "compare-scatter": (f"/compare?runs={','.join(runs)}&tab=scatter", "[data-point]"),
            "compare-pictures": (f"/compare?runs={','.join(runs)}&tab=pictures", "[data-testid=compare-pictures] img"),
        }
        with studio.page("/", size=size, dark=dark) as seen:
            base = studio.base
            for view, (path, shown) in views.items():
                seen.open(base + path)
                seen.page.locator(shown).first.wait_for()
                seen.shot(f"{view}-{name}")
                assert seen.axe() == [], view
                check_width(seen, size[0])
