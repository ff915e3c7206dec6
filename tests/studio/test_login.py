"""Logging in to a team's server: refused with the reason, held off after too many tries, and again without losing the page."""

from __future__ import annotations

import pytest

from tests.cli.program import Program
from tests.conftest import stop_keepers
from tests.studio.test_run_page import _until

pytestmark = pytest.mark.slow

PASSWORD = "a long and good one"


@pytest.fixture(scope="module")
def coop(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    program = Program(folder / "coop", folder / "home")
    program("init", "--name", "birds")
    for name, role in (("ann", "owner"), ("cleo", "reader"), ("dora", "contributor")):
        program("user", "add", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
    yield program
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def url(coop):
    with coop.server() as url:
        yield url


def log_in(page, name, password=PASSWORD):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_refused_then_let_in_where_one_wanted_to_go(browser, url):
    with browser.page(f"{url}/settings?tab=look", check=False) as seen:
        seen.page.wait_for_url(lambda url: "/login?to=" in url)
        log_in(seen.page, "ann", "a wrong one")
        seen.page.get_by_role("alert").wait_for()
        _until(seen, lambda: seen.page.get_by_role("alert").inner_text().strip())
        log_in(seen.page, "ann")
        seen.page.wait_for_url("**/settings?tab=look")
        seen.page.get_by_test_id("settings-look").wait_for()
        seen.page.get_by_test_id("tab-users").wait_for()  # once it is known what she may


def test_an_address_that_mlflow_prints_is_kept_through_the_login(browser, url):
    with browser.page(f"{url}/#/models/crows/versions/2", check=False) as seen:  # there is none: the page says so
        log_in(seen.page, "ann", "a wrong one")
        seen.page.get_by_role("alert").wait_for()
        log_in(seen.page, "ann")
        seen.page.wait_for_url("**/models/crows?version=2")


def test_a_reader_is_not_offered_what_is_refused(browser, url):
    with browser.page(f"{url}/compute", check=False) as seen:
        log_in(seen.page, "cleo")
        seen.page.locator('[data-row="local"]').wait_for()
        seen.page.get_by_role("button", name="cleo").wait_for()
        assert seen.page.get_by_test_id("compute-new").count() == 0
        seen.page.locator("[data-testid=nav-settings]:visible").click()
        seen.page.get_by_test_id("settings-password").wait_for()
        assert seen.page.get_by_test_id("tab-users").count() == 0


def test_session_that_has_ended_logs_in_again_and_keeps_the_page(browser, url):
    with browser.page(f"{url}/models?q=rook", check=False) as seen:
        page = seen.page
        log_in(page, "dora")
        page.get_by_test_id("empty").wait_for()
        page.evaluate("window.stayed = true")
        page.context.clear_cookies()
        page.locator("[data-testid=nav-environments]:visible").click()
        page.get_by_test_id("logged-out").get_by_text("Log in again").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("dora")
        password, said = dialog.get_by_label("Password"), dialog.get_by_test_id("login-refused")
        # Five are free; then there is a pause that doubles, from a second on: it is met, however slow this machine is.
        for attempt in range(12):
            password.fill(f"wrong {attempt}")
            dialog.get_by_test_id("login-submit").click()
            # A refusal empties the field, and would empty the next try too. Only then is the sentence that of this try.
            _until(seen, lambda: password.input_value() == "")
            if "Too many failed logins. Wait" in said.inner_text():
                break
        dialog.get_by_text("Too many failed logins. Wait").wait_for()
        seen.shot("login-again")
        assert seen.axe() == []
        # Who is another one comes in meanwhile.
        dialog.get_by_label("Name").fill("ann")
        dialog.get_by_label("Password").fill(PASSWORD)
        dialog.get_by_test_id("login-submit").click()
        page.get_by_test_id("environments-table").wait_for()
        page.get_by_test_id("logged-out").wait_for(state="detached")
        assert page.evaluate("window.stayed")
