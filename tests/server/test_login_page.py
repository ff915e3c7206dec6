"""The login page in a real Chromium, as a person sees it: light and dark, on a phone and on a desk."""

from __future__ import annotations

import contextlib
import os

import pytest

from rookery.testing.browser import PHONE, WIDE
from rookery.testing.certificates import make_certificate
from tests.cli.program import Program
from tests.conftest import stop_keepers

pytestmark = pytest.mark.slow

PASSWORD = "a long and good one"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log in")
    yield folder
    stop_keepers(str(folder))


@pytest.fixture(scope="module")
def coop(folder):
    program = Program(folder / "coop", folder / "home")
    program("init", "--name", "chickens-and-turkeys")
    program("user", "add", "ann", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")
    return program


@pytest.fixture(scope="module")
def url(coop, folder):
    certificate = make_certificate(str(folder), "server")
    with coop.server("--tls-cert", certificate.cert, "--tls-key", certificate.key, "--prefix", "/rookery") as url:
        yield url


@pytest.fixture
def page(chromium, url):
    """page(…) opens the login page; nothing may go wrong on it, as the console sees it."""
    with contextlib.ExitStack() as stack:
        yield lambda **how: stack.enter_context(chromium.page(url + "/login", ignore_https_errors=True, **how))


def log_in(seen, name="ann", password=PASSWORD):
    seen.page.get_by_label("Name").fill(name)
    seen.page.get_by_label("Password").fill(password)
    seen.page.get_by_role("button", name="Log in").click()


def wait_for_focus(seen, name):
    """A browser moves it there when it next draws, which is after the page has come."""
    seen.page.wait_for_function("name => document.activeElement?.id === name", arg=name)


class TestLook:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
    def test_is_readable_and_fits(self, page, size, dark):
        seen = page(size=size, dark=dark)
        assert seen.page.get_by_role("heading", name="Log in").is_visible()
        assert seen.page.get_by_text("chickens-and-turkeys").is_visible()
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        assert (sum(ground[:3]) < 200) == dark
        name = f"login-{'phone' if size == PHONE else 'wide'}-{'dark' if dark else 'light'}"
        assert os.path.getsize(seen.shot(name)) > 3000
        assert seen.axe() == []

    def test_targets_are_large_enough_for_a_thumb(self, page):
        seen = page(size=PHONE, has_touch=True)
        for control in (seen.page.get_by_label("Name"), seen.page.get_by_role("button", name="Log in")):
            assert control.bounding_box()["height"] >= 40


class TestUse:
    def test_with_the_keyboard_alone(self, page, url):
        seen = page()
        wait_for_focus(seen, "name")
        seen.page.keyboard.type("ann")
        seen.page.keyboard.press("Tab")
        seen.page.keyboard.type(PASSWORD)
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url(url + "/")
        cookie = next(c for c in seen.page.context.cookies() if c["name"] == "rookery_session")
        assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"], cookie["path"]) == (
            True,
            True,
            "Lax",
            "/rookery",
        )
        answer = seen.page.request.get(url + "/api/v1/me")
        assert answer.json()["name"] == "ann"

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_a_wrong_password_is_said_and_the_name_kept(self, chromium, url, dark):
        with chromium.page(url + "/login", ignore_https_errors=True, dark=dark, check=False) as seen:
            log_in(seen, password="wrong one")
            alert = seen.page.get_by_role("alert")
            alert.wait_for()
            assert "wrong" in alert.inner_text()
            assert seen.page.get_by_label("Name").input_value() == "ann"
            assert seen.page.get_by_label("Password").input_value() == ""
            wait_for_focus(seen, "password")
            assert seen.axe() == []
            seen.shot(f"login-wrong-{'dark' if dark else 'light'}")
            # Chromium writes every answer of 401 to its console; nothing else may be there.
            assert all("401" in problem for problem in seen.problems), seen.problems
            assert seen.foreign == []

    def test_who_is_not_logged_in_is_led_there(self, chromium, url):
        with chromium.page(url + "/", ignore_https_errors=True) as seen:
            seen.page.wait_for_url(url + "/login*")
            assert seen.page.get_by_role("button", name="Log in").is_visible()
