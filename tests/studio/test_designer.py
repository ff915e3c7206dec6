"""The designer's canvas: what it refuses and why, what it keeps, undo, groups, notes, the clipboard, drafts that save themselves."""

from __future__ import annotations

import struct
import zipfile

import pytest

from tests.studio.designing import board_of, graph_of, module

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def board(studio):
    with board_of(studio) as made:
        made.base = studio.base
        yield made
        made.seen.check()


def chain(name: str = "chain"):
    """densenet and split with nothing between them."""
    return graph_of(
        name,
        {
            "net": module("densenet", pretrained=False),
            "split": module("split_image_directory", fraction=0.5),
            "init": module("init_image_transformation"),
            "apply": module(
                "apply_image_transformation",
                {"input_image_transformation": ("init", "output_image_transformation")},
                mode="For training",
            ),
        },
    )


class TestRefusals:
    def test_a_wrong_connection_says_why_and_marks_the_module(self, board):
        board.open_new(chain(), board.base)
        board.lay_out()
        said = board.refused("net", "untrained_model", "split", "input_image_directory")
        assert (
            "'Untrained model' of DenseNet gives UntrainedModelDirectory; 'Input image directory' of Split Image Directory takes ImageDirectory."
            in said
        )
        board.page.locator('[data-node="split"][data-refused]').wait_for()
        assert board.page.locator('.react-flow__edge[data-id="split:input_image_directory"]').count() == 0
        assert board.seen.axe() == []

    def test_a_circle_is_refused(self, board):
        graph = chain("circle")
        graph["nodes"]["split"]["inputs"] = {
            "input_image_directory": {"node": "apply", "port": "output_image_directory"}
        }
        board.open_new(graph, board.base)
        board.lay_out()
        assert "circle" in board.refused("split", "output_image_directory1", "apply", "input_image_directory")

    def test_a_missing_input_is_told_and_leads_to_its_module(self, board):
        board.open_new(chain("missing"), board.base)
        board.page.locator('[data-node="split"][data-problems]').wait_for()
        board.page.get_by_test_id("designer-submit").click()
        board.page.get_by_test_id("designer-submit-now").click()
        listed = board.page.get_by_role("dialog").get_by_test_id("designer-problems")
        listed.get_by_text("Input 'Input image directory' of 'split' is not connected").click()
        board.page.get_by_test_id("designer-pane").get_by_text("Splits an image directory").wait_for()
        # The keeper's refusal is an answer of 4xx, which the browser notes: it was asked for.
        board.seen.problems[:] = [each for each in board.seen.problems if "status of 4" not in each]

    def test_an_out_of_range_value_is_told_as_it_is_typed_and_marks_the_module(self, board):
        graph = chain("range")
        graph["nodes"]["split"]["inputs"] = {
            "input_image_directory": {"node": "apply", "port": "output_image_directory"}
        }
        graph["nodes"]["data"] = {
            "kind": "module",
            "module": "convert_to_image_directory",
            "inputs": {},
            "parameters": {},
        }
        board.open_new(graph, board.base)
        board.choose("split")
        board.set("fraction", "1.5")
        board.field("fraction").get_by_text(
            "Fraction of images in the first output is 1.5. Allowed: a number from 0 to 1."
        ).wait_for()
        marked = board.page.locator('[data-node="split"][data-problems]')
        marked.wait_for()
        board.set("fraction", "0.25")
        marked.wait_for(state="detached")
        assert board.saved()["graph"]["nodes"]["split"]["parameters"]["fraction"] == 0.25


class TestDrafts:
    def test_what_is_unknown_is_shown_and_kept(self, board):
        graph = chain("kept")
        graph["future"] = {"of": ["another", "version"]}
        graph["nodes"]["odd"] = {
            "kind": "module", "module": "weigh_feathers", "inputs": {"birds": {"node": "split", "port": "output_image_directory1"}},
            "parameters": {"scale": {"deep": [1, 2]}}, "novelty": 7,
        }  # fmt: skip
        graph["nodes"]["odder"] = {"kind": "dream", "words": "kept"}
        graph["layout"]["odd"], graph["layout"]["odder"] = {"x": 0, "y": 300}, {"x": 300, "y": 300}
        board.open_new(graph, board.base)
        board.node("odd").get_by_text("Unknown module").first.wait_for()
        board.page.locator('[data-node="odd"][data-problems]').wait_for()
        board.choose("odd")
        board.page.get_by_label("Comment").fill("from the old house")
        board.close_pane()
        saved = board.saved()["graph"]
        graph["nodes"]["odd"]["comment"] = "from the old house"
        assert saved["nodes"] == graph["nodes"]
        assert saved["future"] == graph["future"]

    def test_undo_redo_and_what_is_saved_by_itself(self, board):
        draft = board.open_new(chain("undone"), board.base)
        board.choose("split")
        board.page.get_by_test_id("designer-remove").click()
        board.node("split").wait_for(state="detached")
        assert "split" not in board.saved()["graph"]["nodes"]
        board.page.get_by_test_id("designer-undo").click()
        board.node("split").wait_for()
        board.page.keyboard.press("Control+Shift+Z")
        board.node("split").wait_for(state="detached")
        board.page.keyboard.press("Control+Z")
        board.node("split").wait_for()
        assert board.saved()["graph"]["nodes"]["split"]["parameters"] == {"fraction": 0.5}
        board.open(draft, board.base)
        board.node("split").wait_for()

    def test_who_saved_first_is_not_overwritten(self, board):
        draft = board.open_new(chain("two hands"), board.base)
        theirs = board.ask(f"/pipelines/drafts/{draft}")
        graph = {**theirs["graph"], "description": "of the other one"}
        board.ask(f"/pipelines/drafts/{draft}", "PUT", {"graph": graph, "revision": theirs["revision"]})
        board.page.get_by_test_id("designer-name").fill("mine")
        told = board.page.get_by_test_id("designer-conflict")
        told.wait_for()
        told.get_by_text("Take theirs").click()
        told.wait_for(state="detached")
        name = board.page.get_by_test_id("designer-name")
        board.until(lambda: name.input_value() == "two hands", "theirs is not taken")
        assert board.ask(f"/pipelines/drafts/{draft}")["graph"]["description"] == "of the other one"
        board.seen.problems[:] = [each for each in board.seen.problems if "status of 409" not in each]


class TestHands:
    def test_copy_into_another_draft(self, board):
        board.open_new(chain("from here"), board.base)
        board.lay_out()
        board.page.keyboard.press("Control+A")
        board.page.get_by_test_id("designer-group-make").wait_for()
        board.page.keyboard.press("Control+C")
        board.open_new(graph_of("to here", {"split": module("split_image_directory")}), board.base)
        board.page.keyboard.press("Control+V")
        board.node("apply").wait_for()
        saved = board.saved()["graph"]["nodes"]
        assert sorted(saved) == ["apply", "init", "net", "split", "split_2"]
        assert saved["apply"]["inputs"] == {
            "input_image_transformation": {"node": "init", "port": "output_image_transformation"}
        }
        assert saved["split_2"]["parameters"] == {"fraction": 0.5}

    def test_groups_and_notes(self, board):
        board.open_new(chain("grouped"), board.base)
        board.lay_out()
        board.page.keyboard.press("Control+A")
        board.page.get_by_test_id("designer-group-make").click()
        group = board.page.get_by_test_id("designer-group")
        group.wait_for()
        board.click(board.page.get_by_label("Close the group Group"))
        board.node("split").wait_for(state="detached")
        group.get_by_text("4 modules").first.wait_for()
        board.click(board.page.get_by_label("Open the group Group"))
        board.node("split").wait_for()
        board.page.get_by_label("Add a note").click()
        board.page.get_by_test_id("designer-note").get_by_label("Note").fill("mind the hens")
        saved = board.saved()["graph"]
        assert [(each["title"], sorted(each["nodes"])) for each in saved["groups"]] == [
            ("Group", ["apply", "init", "net", "split"])
        ]
        assert [each["text"] for each in saved["notes"]] == ["mind the hens"]

    def test_a_large_canvas_is_moved_and_a_module_taken_hold_of_at_once(self, board):
        """While many are moved only the picture is; whoever takes hold of one then has it where it is seen."""
        large = graph_of("large", {f"n{i}": module("split_image_directory", fraction=0.5) for i in range(64)})
        large["layout"] = {f"n{i}": {"x": i % 8 * 304, "y": i // 8 * 152} for i in range(64)}
        board.open_new(large, board.base)
        board.rest()
        page, node = board.page, board.node("n27")
        start = node.bounding_box()
        page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        for _ in range(8):
            page.mouse.wheel(0, 30)
        board.until(lambda: abs(start["y"] - node.bounding_box()["y"] - 120) < 2, "the canvas does not move as far")
        box = node.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 2, y + 2)  # it is taken along from the first move on
        page.mouse.move(x + 60, y + 40, steps=4)
        page.mouse.up()
        was = large["layout"]["n27"]
        board.until(lambda: board.saved()["graph"]["layout"]["n27"] != was, "it was not taken along")
        now, zoom = board.saved()["graph"]["layout"]["n27"], box["width"] / 256
        assert abs((now["x"] - was["x"]) * zoom - 60) < 12
        assert abs((now["y"] - was["y"]) * zoom - 40) < 12
        moved = node.bounding_box()
        assert abs(moved["x"] - box["x"] - 60) < 12
        assert abs(moved["y"] - box["y"] - 40) < 12

    def test_a_pipeline_parameter_from_a_modules(self, board):
        board.open_new(chain("parameters"), board.base)
        board.choose("split")
        board.field("fraction").get_by_label("More for Fraction of images in the first output").click()
        board.page.get_by_role("menuitem", name="Make it a pipeline parameter").click()
        saved = board.saved()["graph"]
        assert saved["parameters"] == {"fraction": {"type": "number", "default": 0.5}}
        assert saved["nodes"]["split"]["parameters"]["fraction"] == {"pipeline_parameter": "fraction"}
        board.close_pane()
        board.page.get_by_test_id("designer-submit").click()
        given = board.page.get_by_role("dialog").get_by_label("fraction")
        board.until(lambda: given.input_value() == "0.5", "its default is not offered")

    def test_to_code_and_back(self, board):
        board.open_new(chain("as code"), board.base)
        board.page.get_by_label("More", exact=True).click()
        board.page.get_by_role("menuitem", name="As Python or YAML").click()
        board.page.get_by_test_id("tab-yaml").click()
        shown = board.page.get_by_test_id("designer-code")
        shown.get_by_text("as code").first.wait_for()
        text = board.ask("/pipelines/yaml", "POST", {"graph": board.saved()["graph"]})["yaml"]
        board.seen.open(f"{board.base}/designer?yaml=yes")
        board.page.get_by_label("Or its text").fill(text)
        board.page.get_by_test_id("designer-yaml-open").click()
        board.node("split").wait_for()
        assert board.saved()["graph"]["nodes"]["split"]["parameters"] == {"fraction": 0.5}


class TestDropped:
    def test_a_zip_of_pictures_becomes_a_data_set_and_a_node(self, board, tmp_path):
        packed = tmp_path / "wild birds.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as f:
            f.writestr("hens/large.bmp", bitmap(400))
            f.writestr("turkeys/small.bmp", bitmap(32))
        board.open_new(graph_of("dropped", {}), board.base)
        board.drop(packed)
        board.page.get_by_test_id("data-chosen").get_by_text("wild birds.zip").wait_for()
        board.page.get_by_test_id("data-upload").click()
        shown = board.page.get_by_test_id("designer-node")
        shown.get_by_text("wild birds").wait_for()
        saved = board.saved()["graph"]["nodes"]
        assert [(each["kind"], each["dataset"]) for each in saved.values()] == [("data", "wild birds")]
        known = board.ask("/datasets")["datasets"]
        assert [each["latest_version"] for each in known if each["name"] == "wild birds"] == [1]
        # In the grid a large one is made small, and only then shown.
        board.seen.open(f"{board.base}/data/wild%20birds?version=1&folder=hens")
        picture = board.page.get_by_test_id("data-grid").locator("img[data-is=here]")
        board.until(
            lambda: picture.count() == 1 and picture.evaluate("image => image.naturalWidth") == 256, "no picture"
        )
        assert picture.get_attribute("src").startswith("blob:")

    def test_what_is_no_data_gets_a_sentence_and_leaves_nothing(self, board, tmp_path):
        broken = tmp_path / "broken.zip"
        broken.write_bytes(b"PK\x03\x04 and then nothing of a zip")
        (tmp_path / "nothing in it").mkdir()
        board.open_new(graph_of("refused", {}), board.base)
        board.drop(tmp_path / "nothing in it")
        dialog = board.page.get_by_role("dialog")
        dialog.get_by_text("There is no file in it.").wait_for()
        board.page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        board.drop(broken)
        board.page.get_by_test_id("data-upload").click()
        board.page.get_by_text("Nothing was kept").wait_for()
        said = board.page.get_by_test_id("error").inner_text()
        assert "zip" in said, said
        board.page.get_by_test_id("data-upload-cancel").click()
        dialog.wait_for(state="detached")
        assert board.page.get_by_test_id("designer-node").count() == 0
        assert "broken" not in [each["name"] for each in board.ask("/datasets")["datasets"]]
        board.seen.problems[:] = [each for each in board.seen.problems if "status of 400" not in each]


def bitmap(side: int) -> bytes:
    """A picture without any library: a BMP of one colour."""
    rows = (b"\x30\x80\xd0" * side).ljust((3 * side + 3) // 4 * 4, b"\0") * side
    head = struct.pack("<2sIHHI", b"BM", 54 + len(rows), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, side, side, 1, 24, 0, len(rows), 2835, 2835, 0, 0) + rows
