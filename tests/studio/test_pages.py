"""Journeys through Compute, Models, Environments and Settings: what one comes for can be done, and is seen without a reload."""

from __future__ import annotations

import pytest

from tests.studio.filled import fill, forgive
from tests.studio.test_run_page import _until as until

pytestmark = pytest.mark.slow

WAITS = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
"""


@pytest.fixture(scope="module")
def filled(studio):
    return fill(studio)


class TestLists:
    """Before the other tests make more runs."""

    def test_children_stand_behind_their_parents(self, studio, filled):
        whole = {filled[name] for name in ("good", "bad", "piped", "piped_too")}
        with studio.page("/") as seen:
            page = seen.page
            rows = page.get_by_test_id("home-ended").locator("[data-run]")
            until(seen, lambda: set(rows.evaluate_all("rows => rows.map((row) => row.dataset.run)")) == whole)
            page.get_by_test_id("home-quiet").get_by_text("Nothing runs now").wait_for()
            seen.open(f"{studio.base}/experiments")
            cells = page.locator('[data-row="birds"] [role=cell]')
            until(seen, lambda: cells.all_inner_texts()[1:3] == ["4", "+ 4"])
            seen.open(f"{studio.base}/models")
            page.locator('[data-row="birds"]').get_by_text("tells crows from rooks").wait_for()


class TestCompute:
    def test_create_resize_and_delete(self, studio, filled):
        with studio.page("/compute") as seen:
            page = seen.page
            page.get_by_test_id("compute-new").click()
            page.get_by_label("Name").fill("rooks")
            page.get_by_label("Nodes at least").fill("3")
            page.get_by_text("The least (3) is more than the most (2).").wait_for()
            assert page.get_by_test_id("compute-create").is_disabled()
            page.get_by_label("Nodes at least").fill("0")
            page.get_by_test_id("compute-create").click()
            page.wait_for_url("**/compute/rooks")
            page.get_by_test_id("compute-about").get_by_text("0 to 2 nodes").wait_for()
            page.get_by_test_id("compute-resize").click()
            page.get_by_label("Nodes at most").fill("4")
            page.get_by_test_id("compute-resize-save").click()
            page.get_by_test_id("compute-about").get_by_text("0 to 4 nodes").wait_for()
            page.get_by_role("button", name="More to do").click()
            page.get_by_role("menuitem", name="Delete").click()
            page.get_by_test_id("confirm").click()
            page.wait_for_url("**/compute")
            page.locator('[data-row="rooks"]').wait_for(state="detached")
            forgive(seen)

    def test_queue_with_reasons_and_preempt(self, studio, filled, tmp_path):
        ends = tmp_path / "enough"
        studio.cli("compute", "create", "perch", "--max-nodes", "1", "--vm-priority", "lowpriority")
        first = studio.run("waits.py", WAITS, "--compute", "perch", "--name", "the first", arguments=(str(ends),))
        with studio.page("/compute/perch") as seen:
            page = seen.page
            page.get_by_test_id("compute-running").get_by_title(first).wait_for()
            second = studio.run("waits.py", WAITS, "--compute", "perch", "--name", "the next", arguments=(str(ends),))
            row = page.get_by_test_id("compute-waiting").locator("li", has=page.get_by_title(second))
            row.get_by_text("node").first.wait_for()  # what it waits for
            seen.shot("compute-queue")
            node = page.get_by_test_id("compute-nodes").locator("[data-row]").first
            node.get_by_role("button", name="Preempt").click()
            assert seen.axe() == []
            page.get_by_test_id("confirm").click()
            page.get_by_test_id("toast").get_by_text("is taken away").wait_for()
            ends.write_text("")
        studio.cli("stop", first, check=False)
        studio.cli("stop", second, check=False)

    def test_target_that_does_not_exist(self, studio):
        with studio.page("/compute/nowhere", check=False) as seen:
            seen.page.get_by_text("There is no compute target 'nowhere'").wait_for()


class TestModels:
    def test_register_from_a_run_then_stage_alias_and_lineage(self, studio, filled):
        good = filled["good"]
        with studio.page(f"/models?register={good}") as seen:
            page = seen.page
            page.get_by_label("Name", exact=True).fill("corvids")
            until(seen, lambda: page.get_by_label("File or folder").input_value() == "outputs/model.pt")
            page.get_by_test_id("models-register-save").click()
            page.wait_for_url("**/models/corvids?version=1")
            page.get_by_test_id("model-lineage").get_by_role("link", name="good one").wait_for()
            page.get_by_test_id("model-stage").select_option("Production")
            page.get_by_test_id("model-versions").get_by_text("Production").wait_for()
            page.get_by_label("New alias").fill("champion")
            page.get_by_role("button", name="Add").click()
            page.get_by_test_id("model-versions").get_by_text("@champion").wait_for()
            seen.shot("model")
            assert seen.axe() == []
            page.get_by_role("button", name="More to do").click()
            page.get_by_role("menuitem", name="Delete this version").click()
            page.get_by_test_id("confirm").click()
            page.get_by_text("There is no model corvids").wait_for()
            forgive(seen)

    def test_a_new_one_comes_without_a_reload_and_can_be_found(self, studio, filled):
        with studio.page("/models") as seen:
            seen.page.locator('[data-row="birds"]').wait_for()
            studio.python(
                "import sys\nfrom rookery import Run, Workspace\n"
                "Run.get(Workspace.from_config(), sys.argv[1]).register_model('jackdaws', 'outputs/model.pt')\n",
                filled["good"],
            )
            seen.page.locator('[data-row="jackdaws"]').wait_for()
            seen.page.get_by_test_id("models-search").fill("jack")
            seen.page.locator('[data-row="birds"]').wait_for(state="detached")
            seen.page.wait_for_url("**/models?q=jack")

    def test_files_of_a_version(self, studio, filled):
        with studio.page("/models/birds?version=1&file=outputs/notes.txt") as seen:
            seen.page.get_by_test_id("model-preview").get_by_text("crows and rooks").wait_for()


class TestEnvironments:
    def test_registered_and_curated_ones_with_their_packages(self, studio, filled):
        with studio.page("/environments?q=pillow") as seen:
            page = seen.page
            page.locator('[data-row="corvids"]').get_by_text("registered").wait_for()
            page.get_by_test_id("environments-search").fill("AzureML-")
            page.get_by_text("curated", exact=True).first.wait_for()
            page.get_by_test_id("environments-search").fill("corvids")
            page.get_by_role("link", name="corvids").click()
            page.get_by_test_id("environment-contents").get_by_text("pillow==10.4.0").wait_for()

    def test_one_that_is_not_on_the_disk(self, studio):
        with studio.page("/environments/built/no-such-key", check=False) as seen:
            seen.page.get_by_text("This environment is not on the disk").wait_for()


class TestSettings:
    def test_users_and_tokens(self, studio):
        with studio.page("/settings?tab=users") as seen:
            page = seen.page
            page.get_by_test_id("settings-new-user").get_by_label("Name").fill("cleo")
            page.get_by_test_id("settings-add-user").click()
            page.locator('[data-row="cleo"]').wait_for()
            page.get_by_label("Role of cleo").select_option("reader")
            page.get_by_test_id("tab-tokens").click()
            page.get_by_label("What for").fill("laptop")
            page.get_by_test_id("settings-make-token").click()
            shown = page.get_by_test_id("settings-token")
            until(seen, lambda: len(shown.inner_text()) > 20)
            token = shown.inner_text()
            seen.shot("token")
            assert seen.axe() == []
            page.get_by_role("button", name="I have it").click()
            shown.wait_for(state="detached")
            page.get_by_test_id("settings-tokens").get_by_text("laptop").wait_for()
            assert token not in page.content()
            page.get_by_role("button", name="Revoke laptop").click()
            page.get_by_test_id("confirm").click()
            page.get_by_test_id("settings-tokens").get_by_text("laptop").wait_for(state="detached")
            page.get_by_test_id("tab-audit").click()
            page.get_by_test_id("settings-audit-table").get_by_text("/api/v1/users").first.wait_for()

    def test_time_zone_is_kept(self, studio, filled):
        with studio.page("/settings?tab=look", timezone_id="Europe/Berlin") as seen:
            page = seen.page
            page.get_by_test_id("settings-zone").select_option("Asia/Tokyo")
            page.get_by_text("GMT+9").first.wait_for()
            seen.open(f"{filled['base']}/runs/{filled['good']}")
            page.get_by_test_id("run-about").get_by_text("GMT+9").first.wait_for()
