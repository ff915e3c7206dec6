"""Runs of pipelines in the designer: reuse shown, a failure found, clone and compare, what is dropped on the canvas, publishing."""

from __future__ import annotations

import pytest

from tests.studio.designing import board_of, graph_of, module
from tests.studio.filled import _picture

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pictures(studio, tmp_path_factory):
    """A folder of small pictures in two categories, registered as `wood`."""
    folder = tmp_path_factory.mktemp("wood") / "wood"
    for category in ("rooks", "jays"):
        (folder / category).mkdir(parents=True)
        for number in range(4):
            (folder / category / f"{number}.png").write_bytes(_picture(20 * number + len(category)))
    studio.cli("data", "add", "wood", str(folder))
    return folder


def splitting(name: str, dataset: str):
    return graph_of(
        name,
        {
            "data": {"kind": "data", "dataset": dataset, "version": None},
            "convert": module("convert_to_image_directory", {"input_dataset": ("data", "data")}),
            "split": module(
                "split_image_directory", {"input_image_directory": ("convert", "output_image_directory")}, fraction=0.5
            ),
        },
    )


def test_submit_clone_change_reuse_and_compare(studio, pictures):
    with board_of(studio) as board:
        page, base = board.page, studio.base
        board.open_new(splitting("wood", "wood"), base)
        first = board.submit("wood")
        board.wait_over(first, "Completed")
        page.get_by_test_id("designer-clone").click()
        board.node("split").wait_for()
        assert board.saved()["graph"]["nodes"]["split"]["parameters"] == {"fraction": 0.5}
        name = page.get_by_test_id("designer-name")
        board.until(lambda: name.input_value() == "wood (copy)", "the clone has no name of its own")
        board.choose("split")
        board.set("fraction", 0.25)
        board.close_pane()
        board.saved()
        second = board.submit("wood")
        ran = board.wait_over(second, "Completed")
        assert ran["steps"]["convert"]["reused_from"]
        assert not ran["steps"]["split"]["reused_from"]
        assert (
            ran["steps"]["split"]["reuse"] == "not reused: fraction was 0.5, is 0.25"
        )  # told against what it is a clone of
        page.locator('[data-node="convert"][data-reused="yes"]').wait_for()
        board.choose("split")
        page.get_by_test_id("designer-pane").get_by_text("fraction").first.wait_for()  # why it was not reused
        board.see("split")
        board.seen.shot("designer-reused")
        board.seen.open(f"{base}/designer?tab=runs")
        for run in (first, second):
            page.locator(f'[data-row="{run}"] input[type=checkbox]').check()
        page.get_by_test_id("designer-compare").click()
        shown = page.get_by_test_id("designer-compared")
        shown.get_by_text("Fraction of images in the first output").first.wait_for()  # once the catalog is there
        assert {"0.5", "0.25"} <= set(shown.inner_text().split())


def test_what_code_made_lies_from_top_to_bottom(studio, pictures):
    with board_of(studio) as board:
        graph = splitting("from code", "wood")
        del graph["layout"]
        board.open_new(graph, studio.base)
        board.node("split").wait_for()
        board.rest()
        tops = [board.node(node).bounding_box() for node in ("data", "convert", "split")]
        assert all(above["y"] + above["height"] < below["y"] for above, below in zip(tops, tops[1:], strict=False))
        assert board.saved()["graph"].get("layout", {}) == {}  # to look at it is no change


def test_the_first_failing_module_and_its_cause(studio, tmp_path):
    empty = tmp_path / "nothing to see"
    empty.mkdir()
    (empty / "notes.txt").write_text("no picture here\n")
    studio.cli("data", "add", "bare", str(empty))
    with board_of(studio) as board:
        page = board.page
        board.open_new(splitting("bare", "bare"), studio.base)
        run = board.submit("wood")
        board.wait_over(run, "Failed")
        told = page.get_by_test_id("designer-failing")
        told.wait_for()
        board.until(lambda: "Convert to Image Directory" in told.inner_text(), "the failing module's name is not told")
        page.get_by_test_id("designer-go-failing").click()
        page.get_by_test_id("designer-pane").get_by_test_id("run-cause").wait_for()
        page.get_by_test_id("designer-retry").wait_for()
        board.see("convert")
        board.seen.shot("designer-failed")
        assert board.seen.axe() == []
        board.until(lambda: "InvalidDatasetError" in told.inner_text(), "the cause is not told")
        assert "rookery_vision.errors" not in told.inner_text()
        # On a phone the pane lies over the canvas: what was jumped to is above it, also when the page is opened there.
        page.set_viewport_size({"width": 390, "height": 844})
        board.see("convert")
        board.seen.open(page.url)
        page.get_by_test_id("designer-pane").wait_for()
        board.see("convert")


def test_a_folder_dropped_on_the_canvas_becomes_a_data_set(studio, pictures):
    with board_of(studio) as board:
        page = board.page
        board.open_new(graph_of("dropped", {"convert": module("convert_to_image_directory")}), studio.base)
        place = board.still(page.get_by_test_id("designer-canvas"))
        session = page.context.new_cdp_session(page)
        data = {"items": [], "files": [str(pictures)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            session.send(
                "Input.dispatchDragEvent", {"type": kind, "x": place["x"] + 300, "y": place["y"] + 400, "data": data}
            )
        session.detach()
        page.get_by_test_id("data-chosen").wait_for()
        page.get_by_role("dialog").get_by_label("Name").fill("from the canvas")
        page.get_by_test_id("data-upload").click()
        board.node("from_the_canvas").wait_for()
        assert board.saved()["graph"]["nodes"]["from_the_canvas"] == {
            "kind": "data",
            "dataset": "from the canvas",
            "version": None,
        }
        assert "from the canvas" in {each["name"] for each in board.ask("/datasets")["datasets"]}


def test_publish_to_a_new_endpoint(studio, pictures):
    with board_of(studio) as board:
        page = board.page
        board.open_new(splitting("to publish", "wood"), studio.base)
        page.get_by_label("More", exact=True).click()
        page.get_by_role("menuitem", name="Publish").click()
        page.get_by_role("dialog").get_by_label("Endpoint", exact=True).select_option("new")
        page.get_by_label("Name of the endpoint").fill("woodland")
        page.get_by_test_id("designer-publish-now").click()
        page.get_by_test_id("designer-published-at").wait_for()
        board.seen.open(f"{studio.base}/designer?tab=published")
        listed = page.get_by_test_id("designer-published")
        listed.get_by_text("woodland, version 0 (default)").wait_for()
        listed.get_by_text("to publish").first.wait_for()
