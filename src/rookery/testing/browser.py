"""A real Chromium, driven by Playwright: `with chromium(folder) as browser: with browser.page(url) as seen: …`.

Playwright lives in an environment of its own (`.venv-browser`, made at first use by the interpreter that runs the tests) whose
packages are put last on this process's path; Chromium and a font come from Debian. Nothing is downloaded from a browser's maker.
Playwright's event loop runs in the calling thread for as long as `chromium()` is open, and `asyncio.run` fails there meanwhile: so
open it for one module of tests, not for a whole session.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import importlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from typing import Any, Optional

from rookery.testing.debian import ensure_programs

__all__ = ["PHONE", "WIDE", "Browser", "Seen", "chromium", "ensure_browser"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, ".venv-browser")
# The second brings axe-core's script from PyPI, so that no npm is needed.
WANTED = ("playwright==1.65.0", "axe-playwright-python==0.1.8")
PHONE = (390, 844)
WIDE = (1440, 900)
_FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
_NETWORK_CHANGED = "ERR_NETWORK_CHANGED"
_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]
# Init scripts are not subject to a page's own policy; the binding tells us at once, also when the page is left.
_WATCH_POLICY = """document.addEventListener('securitypolicyviolation', event => window.__rookery_policy(
  `${event.effectiveDirective} refused ${event.blockedURI || 'inline'} at ${event.sourceFile || location.href}:${event.lineNumber}`))"""


class Seen:
    """One page, and what went wrong on it.

    `page` is Playwright's Page. `problems` grows while the page lives: errors in the console, exceptions that nobody caught, and what
    the content security policy refused; `foreign` are addresses asked for outside the server of the first address. `dropped` counts
    requests that Chromium gave up because the machine got or lost a network interface (other tests make such): not the page's fault.
    """

    def __init__(self, page: Any, shots: str) -> None:
        self.page = page
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self.dropped = 0
        self._shots = shots
        self._home = ""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", self._request)

    def open(self, url: str) -> Any:
        """Go there; Playwright's Response."""
        if not self._home:
            self._home = "/".join(url.split("/", 3)[:3]) + "/"
        for _ in range(4):
            try:
                return self.page.goto(url)
            except Exception as error:
                if _NETWORK_CHANGED not in str(error):
                    raise
        return self.page.goto(url)

    def shot(self, name: str, whole: bool = False) -> str:
        """A screenshot in the folder that `chromium` was given; its path. `whole`: the page to its end, not only what fits."""
        path = os.path.join(self._shots, f"{name}.png")
        self.page.screenshot(path=path, full_page=whole, animations="disabled")
        return path

    def axe(self, within: Optional[str] = None, but: tuple[str, ...] = ()) -> list[str]:
        """What axe-core finds wrong (WCAG 2.2 A and AA, and best practices), a line each; `but` names rules left out."""
        self.page.evaluate(f"() => {{ {_axe_script()} }}")
        options = {"resultTypes": ["violations"], "preload": False, "rules": {rule: {"enabled": False} for rule in but}}
        answer = self.page.evaluate(
            "([within, options]) => axe.run(within || document, options).then(found => found.violations)",
            [within, options],
        )
        return [f"{rule['id']} ({rule['impact']}): {rule['help']}: {_places(rule)}" for rule in answer]

    def check(self) -> None:
        """AssertionError when anything went wrong so far, or anything was asked of another server."""
        wrong = self.problems + [f"foreign request: {url}" for url in self.foreign]
        assert not wrong, "on the page " + self.page.url + ":\n" + "\n".join(wrong)

    def _console(self, message: Any) -> None:
        if _NETWORK_CHANGED in message.text:
            self.dropped += 1
        elif message.type == "error":
            where = message.location.get("url", "") if isinstance(message.location, dict) else ""
            self.problems.append(f"console: {message.text} {where}".rstrip())

    def _request(self, request: Any) -> None:
        if self._home and not request.url.startswith((self._home, "data:", "blob:", "about:")):
            self.foreign.append(request.url)


class Browser:
    """A running Chromium. `browser` is Playwright's Browser, for what is not here."""

    def __init__(self, browser: Any, shots: str) -> None:
        self.browser = browser
        self.shots = shots

    @contextlib.contextmanager
    def page(
        self, url: str = "", *, size: tuple[int, int] = WIDE, dark: bool = False, check: bool = True, **context: Any
    ) -> Iterator[Seen]:
        """A page in a fresh profile (no cookies), opened at `url`.

        Args:
            check: at the end, `Seen.check()`.
            context: more of Playwright's `new_context`: `ignore_https_errors`, `storage_state`, `timezone_id`, `has_touch` …
        """
        context.setdefault("viewport", {"width": size[0], "height": size[1]})
        context.setdefault("color_scheme", "dark" if dark else "light")
        context.setdefault("reduced_motion", "reduce")
        context.setdefault("locale", "en-GB")
        profile = self.browser.new_context(**context)
        profile.set_default_timeout(120_000)  # a loaded machine is slow, not wrong
        try:
            page = profile.new_page()
            seen = Seen(page, self.shots)
            profile.expose_binding("__rookery_policy", lambda source, text: seen.problems.append(f"policy: {text}"))
            profile.add_init_script(_WATCH_POLICY)
            if url:
                seen.open(url)
            yield seen
            if check:
                seen.check()
        finally:
            profile.close()


@contextlib.contextmanager
def chromium(shots: str = "") -> Iterator[Browser]:
    """Start one, headless; screenshots go below `shots` (made if missing; the variable BROWSER_SHOTS wins, to look at them later).

    Raises:
        RuntimeError: it cannot be installed here.
    """
    program = ensure_browser()
    from playwright.sync_api import sync_playwright

    shots = os.environ.get("BROWSER_SHOTS") or str(shots) or "."
    os.makedirs(shots, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=_ARGUMENTS, timeout=180_000)
        try:
            yield Browser(browser, shots)
        finally:
            browser.close()


def ensure_browser() -> str:
    """Chromium's program, with Playwright importable in this process; both are installed where they are missing.

    Raises:
        RuntimeError: they cannot be installed here.
    """
    wanted = {"chromium": "chromium"}
    if not os.path.exists(_FONT):
        wanted["a font (without one, pages are empty boxes)"] = "fonts-dejavu-core"
    program = ensure_programs(wanted)["chromium"]
    with open(os.path.join(ROOT, ".venv-browser.lock"), "w") as lock:
        # Also to look: what another process is just installing can be imported in part, and is then broken in this one.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_importable():
            _make_environment()
            importlib.invalidate_caches()
            if not _is_importable():
                raise RuntimeError(f"Playwright cannot be imported from {FOLDER}. Remove that folder and try again.")
    return program


def _make_environment() -> None:
    marker = os.path.join(FOLDER, ".made")
    made = json.dumps([sys.version_info[:2], WANTED])
    with contextlib.suppress(OSError), open(marker) as f:
        if f.read() == made:
            return
    for command in (
        [sys.executable, "-m", "venv", "--clear", FOLDER],
        [os.path.join(FOLDER, "bin", "python"), "-m", "pip", "install", "-q", "--no-input", *WANTED],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode:
            raise RuntimeError(f"The browser tests' environment cannot be made: {done.stderr[-1000:]}")
    with open(marker, "w") as f:
        f.write(made)


def _is_importable() -> bool:
    packages = sysconfig.get_path("purelib", vars={"base": FOLDER, "platbase": FOLDER})
    if os.path.isdir(packages) and packages not in sys.path:
        sys.path.append(packages)  # last: what the tests' own environment has stays as it is
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return False
    return bool(_axe_files())


def _axe_files() -> list[str]:
    packages = sysconfig.get_path("purelib", vars={"base": FOLDER, "platbase": FOLDER})
    return glob.glob(os.path.join(glob.escape(packages), "axe_playwright_python", "*.js"))


def _axe_script() -> str:
    with open(_axe_files()[0], encoding="utf-8") as f:
        return f.read()


def _places(rule: dict[str, Any]) -> str:
    return "; ".join(" ".join(map(str, node["target"])) for node in rule["nodes"][:5])
