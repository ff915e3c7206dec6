"""Journeys through the Data page: a folder and a zip are dropped for real, looked at, used, forgotten; what is hostile is refused."""

from __future__ import annotations

import importlib.util
import json
import time
import zipfile
from pathlib import Path

import pytest

from rookery.testing.browser import PHONE
from tests.studio.filled import forgive

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAME = "hens & rooks"

USES = """
from azureml.core import Dataset, Environment, Experiment, ScriptRunConfig, Workspace
from azureml.data import OutputFileDatasetConfig
import sys

ws = Workspace.from_config()
here = Environment("here")
here.python.user_managed_dependencies = True
here.python.interpreter_path = sys.executable
birds = Dataset.get_by_name(ws, sys.argv[1])
out = OutputFileDatasetConfig("counts").register_on_complete("counts")
config = ScriptRunConfig(".", "counts.py", arguments=[birds.as_named_input("birds").as_mount(), out], environment=here)
run = Experiment(ws, "birds").submit(config)
run.display_name = "counts birds"
run.wait_for_completion(raise_on_error=True)
print(run.id)
"""
COUNTS = """
import os, sys
names = [name for _, _, names in os.walk(sys.argv[1], followlinks=True) for name in names]
with open(os.path.join(sys.argv[2], "counts.csv"), "w") as f:
    f.write("what,how many\\nfiles,%d\\n" % len(names))
"""
TABLE = """
from azureml.core import Dataset, Workspace
ws = Workspace.from_config()
store = ws.get_default_datastore()
with open("iris table.csv", "w") as f:
    f.write("kind,width\\nsetosa,0.2\\n\\"a, b\\",1.4\\n")
store.upload_files(["iris table.csv"], target_path="tables", show_progress=False)
Dataset.Tabular.from_delimited_files((store, "tables/iris table.csv")).register(ws, "iris")
"""


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    """A folder of small pictures with their labels, an empty folder, and a name with a space."""
    spec = importlib.util.spec_from_file_location("draw_birds", ROOT / "examples" / "birds" / "draw_birds.py")
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    folder = tmp_path_factory.mktemp("dropped") / NAME
    drawing.make_birds(str(folder), train=4, val=0, size=96)
    (folder / "train" / "no birds").mkdir()
    (folder / "about them.txt").write_text("hens and turkeys\n")
    (folder / ".complete-4-0-96-0").unlink()
    return folder


def drop(seen, *paths):
    """What the browser does when files are dropped from a desktop on the middle of its page."""
    seen.page.locator("[data-testid=data-new], [data-testid=data-new-version]").wait_for()  # who is there may upload
    session = seen.page.context.new_cdp_session(seen.page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}

    def send(kind):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 300, "data": data})

    def is_taken():
        """A page that was drawn a moment ago may not listen yet: then it is carried out, and in again."""
        send("dragEnter")
        send("dragOver")
        try:
            seen.page.get_by_test_id("data-overlay").wait_for(timeout=5000)
            return True
        except Exception:
            send("dragCancel")
            return False

    _until(is_taken)
    send("drop")
    session.detach()


def known(studio):
    """{name: latest version}"""
    return {each["name"]: each["version"] for each in json.loads(studio.cli("data", "list", "--json"))["datasets"]}


def test_drop_a_folder_then_a_zip_and_walk_through(studio, birds, tmp_path):
    with studio.page("/data") as seen:
        page = seen.page
        page.get_by_text("No data sets yet").wait_for()
        drop(seen, birds)
        page.get_by_test_id("data-chosen").get_by_text("9 files").wait_for()
        name = page.get_by_label("Name", exact=True)
        _until(lambda: name.input_value() == NAME)
        seen.shot("data-upload")
        assert seen.axe() == []
        page.get_by_test_id("data-upload").click()
        page.wait_for_url("**/data/hens*?version=1")
        page.get_by_test_id("data-preview").get_by_text("about them.txt").wait_for()
        page.get_by_role("link", name="about them.txt", exact=True).click()
        page.get_by_test_id("data-file").get_by_text("hens and turkeys").wait_for()
        page.keyboard.press("Escape")
        page.get_by_test_id("data-preview").get_by_role("link", name="train").click()
        page.get_by_test_id("data-preview").get_by_text("no birds").wait_for()
        page.get_by_test_id("data-preview").get_by_role("link", name="turkeys").click()
        pictures = page.get_by_test_id("data-grid").locator("img")
        _until(lambda: pictures.count() == 4)
        _shown(pictures.first)
        seen.shot("data-grid")
        assert seen.axe() == []
        pictures.nth(1).click()
        large = page.get_by_test_id("data-picture")
        large.get_by_text("96 × 96 pixels").wait_for()
        page.keyboard.press("ArrowRight")
        page.get_by_role("dialog", name="train/turkeys/002.jpg").wait_for()
        page.wait_for_url(lambda url: "file=train%2Fturkeys%2F002.jpg" in url)
        seen.shot("data-picture")
        assert seen.axe() == []
        page.keyboard.press("Escape")
        page.get_by_role("navigation", name="Folder").get_by_role("link", name="train").click()
        page.get_by_test_id("data-preview").get_by_text("no birds").wait_for()

        packed = tmp_path / "more.zip"
        with zipfile.ZipFile(packed, "w") as f:
            for path in sorted(birds.rglob("*.jpg")):
                f.write(path, f"wrapped/{path.relative_to(birds)}")
        drop(seen, packed)
        page.get_by_text(f"A new version of {NAME}").wait_for()
        page.get_by_test_id("data-chosen").get_by_text("unpacked by the keeper").wait_for()
        page.get_by_test_id("data-upload").click()
        page.wait_for_url("**?version=2")
        page.get_by_test_id("data-versions").get_by_text("Version 2").wait_for()
        page.get_by_test_id("data-version").get_by_text("8 files").wait_for()
    assert known(studio) == {NAME: 2}


def test_what_is_refused_leaves_nothing(studio, tmp_path):
    hostile = tmp_path / "hostile.zip"
    with zipfile.ZipFile(hostile, "w") as f:
        f.writestr("fine.txt", "fine")
        f.writestr("../../over.txt", "out of here")
    with studio.page("/data", check=False) as seen:  # the browser's console says 400
        drop(seen, hostile)
        seen.page.get_by_test_id("data-upload").click()
        seen.page.get_by_test_id("error").get_by_text("over.txt").wait_for()
        seen.page.get_by_text("Nothing was kept").wait_for()
        seen.shot("data-refused")
        assert seen.axe() == []
        # The dialog stays: with another name, or closed.
        _until(lambda: seen.page.get_by_test_id("data-upload").is_enabled())
    assert "hostile" not in known(studio)


def test_cancel_in_the_middle_leaves_nothing(studio, tmp_path):
    large = tmp_path / "large.bin"
    with open(large, "wb") as f:
        f.truncate(64 * 1024 * 1024)
    with studio.page("/data") as seen:
        page = seen.page
        session = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 256 * 1024}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", slow)
        drop(seen, large)
        page.get_by_test_id("data-upload").click()
        page.get_by_test_id("data-progress").get_by_text("of 67.1 MB").wait_for()
        seen.shot("data-progress")
        page.get_by_test_id("data-upload-cancel").click()
        page.get_by_test_id("toast").get_by_text("nothing of it was kept").wait_for()
        page.get_by_test_id("data-progress").wait_for(state="detached")
        session.detach()
    assert "large" not in known(studio)
    folder = Path(json.loads(studio.cli("datastore", "show", "workspaceblobstore", "--json"))["spec"]["folder"])
    _until(lambda: [path for path in (folder / "uploads" / "large").rglob("*") if path.is_file()] == [])


def test_table_runs_tags_and_forgetting(studio, birds):
    studio.cli("data", "add", "pictures", str(birds))
    studio.python(TABLE)
    (studio.project / "counts.py").write_text(COUNTS)
    run = studio.python(USES, "pictures").split()[-1]
    with studio.page("/data?q=iris") as seen:
        page = seen.page
        page.get_by_role("link", name="iris").click()
        page.get_by_test_id("data-preview").get_by_text("a, b").wait_for()
        page.get_by_text("No run has used this version yet").wait_for()
        seen.shot("data-table")
        assert seen.axe() == []
        page.get_by_role("button", name="More to do").click()
        page.get_by_role("menuitem", name="Description and tags").click()
        page.get_by_label("Description", exact=True).fill("flowers")
        page.get_by_label("Tag 1", exact=True).fill("season")
        page.get_by_label("Value of tag 1").fill("spring")
        page.get_by_test_id("data-save").click()
        page.get_by_test_id("data-version").get_by_text("season").wait_for()

        seen.open(f"{studio.base}/data/pictures")
        row = page.get_by_test_id("data-runs").locator(f'[data-row="{run}"]')
        row.get_by_text("read as birds (mount)").wait_for()
        row.get_by_text("Completed").wait_for()
        seen.open(f"{studio.base}/data/counts")
        page.get_by_test_id("data-runs").get_by_text("made by").wait_for()
        page.get_by_test_id("data-version").get_by_role("link", name=run).wait_for()

        # Another client adds a version: it comes without a reload.
        studio.cli("data", "add", "counts", str(birds / "about them.txt"))
        page.get_by_test_id("data-versions").get_by_text("Version 2").wait_for()
        page.get_by_role("button", name="More to do").click()
        page.get_by_role("menuitem", name="Forget all versions").click()
        page.get_by_test_id("confirm").click()
        page.locator('[data-row="pictures"]').wait_for()
        page.locator('[data-row="counts"]').wait_for(state="detached")
        forgive(seen)
    assert "counts" not in known(studio)


def test_pages_that_are_not_there(studio):
    with studio.page("/data/nothing", check=False) as seen:
        seen.page.get_by_text("There is no data set nothing").wait_for()


def test_datastores(studio, tmp_path):
    studio.cli("datastore", "add", "east", "--kind", "folder", "--option", f"folder={tmp_path}")
    with studio.page("/data?view=stores", size=PHONE, dark=True) as seen:
        page = seen.page
        east = page.get_by_test_id("data-stores").locator('[data-row="east"]')
        east.get_by_text(str(tmp_path)).wait_for()
        east.get_by_role("button", name="More to do with east").click()
        page.get_by_role("menuitem", name="Make it the default").click()
        east.get_by_text("Default").wait_for()
        seen.shot("data-stores-phone")
        east.get_by_role("button", name="More to do with east").click()
        page.get_by_role("menuitem", name="Forget it").click()
        page.get_by_test_id("confirm").click()
        east.wait_for(state="detached")
        page.locator('[data-row="workspaceblobstore"]').get_by_text("Default").wait_for()
        forgive(seen)


def _shown(picture):
    """A lazily loaded picture is decoded."""
    picture.scroll_into_view_if_needed()
    _until(lambda: picture.evaluate("image => image.complete && image.naturalWidth > 0"))


def _until(holds, limit_s=90.0):
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)
