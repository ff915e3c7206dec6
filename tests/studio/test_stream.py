"""Journeys of the live stream: two tabs share one, the second goes on when the first is closed; without it pages poll."""

from __future__ import annotations

import pytest

from rookery.testing.browser import Seen
from tests.studio.test_run_page import _until

pytestmark = pytest.mark.slow

OK = "print('chirp')\n"
LIVE = "[data-testid=connection][data-state=live]"
AWAY = "[data-testid=connection][data-state=away]"


class TestTwoTabs:
    def test_they_share_one_stream_and_the_other_takes_over(self, studio):
        with studio.page("/runs") as seen:
            first = seen.page
            second = first.context.new_page()
            other = Seen(second, studio.browser.shots)
            streams = []  # that the second asks for
            second.on(
                "request", lambda request: streams.append(request.url) if "/api/v1/events" in request.url else None
            )
            other.open(f"{studio.base}/runs")
            studio.wait_live(other)
            run_id = studio.run("ok.py", OK, "--name", "seen by both")
            for page in (first, second):
                page.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()
            assert streams == []
            first.close()
            _until(other, lambda: streams)
            run_id = studio.run("ok.py", OK, "--name", "after the first was closed")
            second.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()


class TestWithoutIt:
    def test_pages_poll(self, studio):
        with studio.page("/runs", check=False) as seen:
            page = seen.page
            page.context.route("**/api/v1/events?*", lambda route: route.abort())
            page.reload()
            page.wait_for_selector(AWAY, state="attached")
            run_id = studio.run("ok.py", OK, "--name", "found by asking")
            page.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()
            assert page.locator(LIVE).count() == 0  # it cannot have come: all its requests are turned away
            page.context.unroute("**/api/v1/events?*")
            page.wait_for_selector(LIVE, state="attached")
