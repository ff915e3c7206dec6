"""Journeys: what waits and why, building an environment and watching it, removing it, checking a target, a password, links of MLflow."""

from __future__ import annotations

import glob
import json
import os

import pytest

from tests.studio.test_login import PASSWORD, coop, log_in, url  # noqa: F401  (fixtures)

pytestmark = pytest.mark.slow

WAITS = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
"""
# A package of nobody's: found in a folder, so that nothing is asked of an index.
REGISTERS = """
import sys, zipfile
from rookery import Environment, Workspace
info = "tiny_rook-1.0.dist-info/"
with zipfile.ZipFile("tiny_rook-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny_rook.py", "CAWS = 3\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: tiny-rook\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "tiny_rook.py,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n" + info + "RECORD,,\\n")
ws = Workspace.from_config()
address = Environment.add_private_pip_wheel(ws, "tiny_rook-1.0-py3-none-any.whl", exist_ok=True)
environment = Environment("rookery tiny")
environment.python.conda_dependencies.add_pip_package(address)
environment.python.conda_dependencies.set_python_version("%d.%d" % sys.version_info[:2])
environment.register(ws)
"""


class TestHome:
    def test_what_waits_says_for_what_until_it_runs(self, studio, tmp_path):
        ends = tmp_path / "enough"
        studio.cli("compute", "create", "twig", "--max-nodes", "1")
        options = ("--compute", "twig", "--name")
        studio.run("waits.py", WAITS, *options, "sits on it", arguments=(str(ends),))
        with studio.page("/") as seen:
            page = seen.page
            page.get_by_test_id("home-running").get_by_text("sits on it").wait_for()
            page.get_by_test_id("home-compute").get_by_text("1 of 1 node busy · 1 run").wait_for()
            second = studio.run("waits.py", WAITS, *options, "comes next", arguments=(str(ends),))
            row = page.get_by_test_id("home-waiting").locator("li", has_text="comes next")
            row.wait_for()
            row.get_by_text("node").first.wait_for()  # the reason
            page.get_by_test_id("home-compute").get_by_text("1 waiting").wait_for()
            seen.shot("home-waiting")
            assert seen.axe() == []
            ends.write_text("")
            page.get_by_test_id("home-waiting").wait_for(state="detached")
            page.get_by_test_id("home-ended").get_by_text("comes next").wait_for()
        studio.wait(second, "Completed")


class TestEnvironments:
    def test_build_now_with_its_log_then_remove_what_nobody_uses(self, studio):
        studio.python(REGISTERS)
        with studio.page("/environments/rookery%20tiny") as seen:
            page = seen.page
            page.get_by_test_id("environment-build").click()
            card = page.get_by_test_id("environment-build-log")
            card.get_by_test_id("environment-log-lines").get_by_text("tiny", exact=False).first.wait_for()
            card.get_by_text("Succeeded").wait_for(timeout=200_000)
            page.wait_for_url(lambda url: "build=" in url)  # an address that can be shared
            seen.shot("environment-build")
            assert seen.axe() == []
            card.get_by_role("link").click()
            page.get_by_test_id("built-packages").get_by_text("tiny-rook").wait_for()
            page.get_by_test_id("built-log").get_by_text("tiny", exact=False).first.wait_for()
            assert seen.axe() == []

            # What was used a moment ago may have been handed to somebody: nothing is offered.
            seen.open(f"{studio.base}/environments?view=built")
            page.get_by_test_id("environments-prune").click()
            page.get_by_text("There is nothing to remove.").wait_for()
            assert page.get_by_test_id("confirm").is_disabled()
            page.keyboard.press("Escape")
            page.get_by_text("There is nothing to remove.").wait_for(state="detached")
            self._make_old(studio)
            page.get_by_test_id("environments-prune").click()
            assert seen.axe() == []
            page.get_by_role("button", name="Remove 1 environment").click()
            page.get_by_test_id("toast").get_by_text("are free again").wait_for()
            page.get_by_text("Nothing is built yet").wait_for()

    @staticmethod
    def _make_old(studio):
        (path,) = {one["path"] for one in json.loads(studio.cli("env", "list", "--json"))["environments"]}
        markers = [file for file in glob.glob(f"{glob.escape(os.path.dirname(path))}/*") if os.path.isfile(file)]
        markers += [file for file in glob.glob(f"{glob.escape(path)}/*") if os.path.isfile(file)]
        for file in markers:
            os.utime(file, (1e9, 1e9))


class TestCompute:
    def test_check_a_target_from_end_to_end(self, studio):
        studio.cli("compute", "create", "branch", "--max-nodes", "1")
        with studio.page("/compute/branch") as seen:
            seen.page.get_by_role("button", name="More to do").click()
            seen.page.get_by_role("menuitem", name="Check it from end to end").click()
            dialog = seen.page.get_by_role("dialog")
            dialog.get_by_text("good", exact=True).first.wait_for(timeout=200_000)
            assert dialog.get_by_text("broken", exact=True).count() == 0
            seen.shot("compute-check")
            assert seen.axe() == []


class TestModels:
    def test_a_change_by_somebody_else_is_seen(self, studio):
        (studio.project / "weights.bin").write_bytes(bytes(100))
        studio.python(
            "from rookery import Model, Workspace\n"
            "Model.register(Workspace.from_config(), 'weights.bin', 'wings', description='as it was')\n"
        )
        with studio.page("/models/wings", check=False) as seen:  # what belongs to it may be asked for when it is gone
            seen.page.get_by_text("as it was").first.wait_for()
            studio.python(
                "from rookery import Model, Workspace\n"
                "Model(Workspace.from_config(), 'wings').update(description='as it is now')\n"
            )
            seen.page.get_by_text("as it is now").first.wait_for()
            studio.python("from rookery import Model, Workspace\nModel(Workspace.from_config(), 'wings').delete()\n")
            seen.page.get_by_text("There is no model wings").wait_for()


def test_links_of_mlflow_lead_to_our_pages(studio):
    """What its client prints after a run: `View run … at: …/#/experiments/<id>/runs/<id>`."""
    run_id = studio.run("short.py", "print('caw')", "--experiment", "flights", "--name", "a short flight")
    studio.wait(run_id, "Completed")
    asks = "from rookery import Workspace\nprint(Workspace.from_config().experiments['flights'].id)\n"
    experiment = studio.python(asks).strip()
    with studio.page("/") as seen:
        base = studio.base
        seen.page.goto("about:blank")
        seen.open(f"{base}/#/experiments/{experiment}/runs/{run_id}")
        seen.page.get_by_role("heading", name="a short flight").wait_for()
        seen.page.wait_for_url(f"{base}/runs/{run_id}")
        seen.page.goto("about:blank")
        seen.open(f"{base}/#/experiments/{experiment}")
        seen.page.wait_for_url("**/experiments/flights")
        seen.page.locator(f'[data-row="{run_id}"]').wait_for()


class TestPassword:
    def test_changed_then_logged_in_with_the_new_one(self, browser, url):  # noqa: F811
        with browser.page(f"{url}/settings", check=False) as seen:
            page = seen.page
            log_in(page, "cleo")
            card = page.get_by_test_id("settings-password")
            card.get_by_label("Old password").fill("not this one")
            card.get_by_label("New password", exact=True).fill("another long one")
            card.get_by_label("New password, again").fill("another long on")
            assert card.get_by_role("button", name="Change the password").is_disabled()
            card.get_by_label("New password, again").fill("another long one")
            assert seen.axe() == []
            card.get_by_role("button", name="Change the password").click()
            card.locator("[aria-invalid=true]").wait_for()
            card.get_by_label("Old password").fill(PASSWORD)
            card.get_by_role("button", name="Change the password").click()
            page.get_by_text("The password is changed").wait_for()
            seen.open(f"{url}/settings")
            page.get_by_label("Name").wait_for()  # its sessions have ended
            log_in(page, "cleo", "another long one")
            page.get_by_test_id("settings-password").wait_for()
