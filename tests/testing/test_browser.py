"""The browser helper notices what a page does wrong, and nothing else."""

from __future__ import annotations

import http.server
import os
import threading

import pytest

PAGES = {
    "/good": (
        "",
        "<!doctype html><html lang=en><title>Good</title><link rel=icon href=data:,><main><h1>Good</h1></main></html>",
    ),
    "/console": ("", "<!doctype html><link rel=icon href=data:,><script>console.error('not so good')</script>"),
    "/exception": ("", "<!doctype html><link rel=icon href=data:,><script>throw new Error('uncaught one')</script>"),
    "/policy": (
        "default-src 'none'; img-src data:",
        "<!doctype html><link rel=icon href=data:,><style>h1 { color: red }</style><h1>Styled</h1>",
    ),
    "/foreign": ("", "<!doctype html><link rel=icon href=data:,><img alt='' src='http://127.0.0.2:9/x.png'>"),
    "/unreadable": (
        "",
        "<!doctype html><html lang=en><title>Pale</title><link rel=icon href=data:,><main><h1 style='color:#eee;background:#fff'>Pale</h1></main></html>",
    ),
}


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        policy, text = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class TestPage:
    def test_a_good_page_has_no_problem(self, chromium, site):
        with chromium.page(site + "/good") as seen:
            assert seen.page.title() == "Good"
            assert seen.axe() == []
            assert os.path.getsize(seen.shot("good")) > 1000

    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("/console", "console: not so good"),
            ("/exception", "exception: uncaught one"),
            ("/policy", "policy: style-src"),
            ("/foreign", "foreign request: http://127.0.0.2:9/x.png"),
        ],
    )
    def test_a_bad_one_is_told(self, chromium, site, path, said):
        with pytest.raises(AssertionError, match="on the page") as caught, chromium.page(site + path) as seen:
            _wait_for_a_word(seen)
        assert said in str(caught.value)

    def test_axe_finds_pale_text(self, chromium, site):
        with chromium.page(site + "/unreadable") as seen:
            assert [line.split()[0] for line in seen.axe()] == ["color-contrast"]
            assert seen.axe(but=("color-contrast",)) == []


def _wait_for_a_word(seen):
    """It may be told a moment after the page is there."""
    for _ in range(600):
        if seen.problems or seen.foreign:
            return
        seen.page.wait_for_timeout(100)
