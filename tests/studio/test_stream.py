"""Journeys of the live stream: two tabs share one, the second goes on when the first is closed; without it pages poll."""

from __future__ import annotations

from tests.studio.test_run_page import _until

OK = "print('chirp')\n"


class TestTwoTabs:
    def test_they_share_one_stream_and_the_other_takes_over(self, studio):
        with studio.page("/runs") as seen:
            first = seen.page
            streams: list[str] = []
            first.context.on(
                "request", lambda request: streams.append(request.url) if "/api/v1/events" in request.url else None
            )
            second = first.context.new_page()
            second.goto(f"{studio.base}/runs")
            second.wait_for_selector("[data-testid=connection][data-state=live]", state="attached")
            run_id = studio.run("ok.py", OK, "--name", "seen by both")
            for page in (first, second):
                page.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()
            assert streams == []  # the second has not asked for one of its own
            first.close()
            _until_on(second, lambda: len(streams) == 1)
            run_id = studio.run("ok.py", OK, "--name", "after the first was closed")
            second.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()


class TestWithoutIt:
    def test_pages_poll(self, studio):
        with studio.page("/runs", check=False) as seen:
            page = seen.page
            page.context.route("**/api/v1/events?*", lambda route: route.abort())
            page.reload()
            page.wait_for_selector("[data-testid=connection][data-state=away]", state="attached")
            run_id = studio.run("ok.py", OK, "--name", "found by asking")
            page.locator(f'[data-row="{run_id}"]').get_by_text("Completed").wait_for()
            assert page.get_by_test_id("connection").first.get_attribute("data-state") != "live"
            page.context.unroute("**/api/v1/events?*")
            page.wait_for_selector("[data-testid=connection][data-state=live]", state="attached")


def _until_on(page, holds):
    class Shown:
        pass

    shown = Shown()
    shown.page = page
    _until(shown, holds)
