"""Endpoints: a dropped picture gets its label; keys are hidden until asked for; versions, log and load are live."""

from __future__ import annotations

import base64

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.studio.filled import settle
from tests.studio.served import PICTURE, serve

pytestmark = pytest.mark.slow

HEALTHY = '[data-testid=endpoint-head] >> text="Healthy"'
LONG_MS = 120_000


@pytest.fixture(scope="module")
def served(studio):
    serve(studio, "birds-live", auth=True)
    return studio


def drop(seen, name, data, kind):
    """A file that is dragged from elsewhere and dropped."""
    transfer = seen.page.evaluate_handle(
        """([name, data, kind]) => {
            const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], name, { type: kind }));
            return transfer;
        }""",
        [name, base64.b64encode(data).decode(), kind],
    )
    place = seen.page.get_by_test_id("endpoint-drop")
    place.dispatch_event("dragover", {"dataTransfer": transfer})
    place.dispatch_event("drop", {"dataTransfer": transfer})


def test_a_dropped_picture_gets_its_label(served):
    with served.page("/endpoints", size=WIDE) as seen:
        seen.page.locator("[data-row=birds-live] a").click()
        seen.page.wait_for_selector(HEALTHY, timeout=LONG_MS)
        drop(seen, "rook.png", PICTURE, "image/png")
        told = seen.page.get_by_test_id("endpoint-prediction")
        told.get_by_text("rook").first.wait_for(timeout=LONG_MS)
        told.get_by_text("87.5 %").first.wait_for(timeout=LONG_MS)
        seen.shot("endpoint-wide-light")
        seen.page.get_by_test_id("endpoint-body").fill('{"seen": 3}')
        seen.page.get_by_test_id("endpoint-send").click()
        seen.page.locator("[data-testid=endpoint-answer] >> text=/seen/").first.wait_for(timeout=LONG_MS)
        seen.page.get_by_test_id("endpoint-body").fill("rubbish")
        seen.page.get_by_test_id("endpoint-send").click()
        seen.page.locator("[data-testid=endpoint-answer] >> text=/Refused, 400/").wait_for(timeout=LONG_MS)
        # Its log and its numbers come by themselves.
        seen.page.locator("[data-testid=endpoint-log-lines] >> text=/I have come up/").first.wait_for(timeout=LONG_MS)
        seen.page.locator("[data-testid=endpoint-latency] dl").wait_for(timeout=LONG_MS)
        assert seen.axe() == []
        # The refusal is an answer of the endpoint, shown; the browser notes it all the same.
        seen.problems[:] = [problem for problem in seen.problems if "400" not in problem]
        seen.check()


def test_keys_are_hidden_until_asked_for(served):
    keys = served.python(
        "from rookery import Webservice, Workspace\nprint(*Webservice(Workspace.from_config(), 'birds-live').get_keys())"
    ).split()
    with served.page("/endpoints/birds-live", size=PHONE, dark=True) as seen:
        settle(seen)
        card = seen.page.get_by_test_id("endpoint-keys")
        assert keys[0] not in seen.page.locator("body").inner_text()
        seen.page.get_by_test_id("endpoint-keys-show").click()
        card.locator(f'text="{keys[0]}"').wait_for(timeout=LONG_MS)
        card.get_by_label("Make the secondary key anew").click()
        seen.page.get_by_test_id("confirm").click()
        card.locator(f'text="{keys[1]}"').wait_for(state="detached", timeout=LONG_MS)
        card.locator(f'text="{keys[0]}"').wait_for(timeout=LONG_MS)
        seen.shot("endpoint-phone-dark")
        assert seen.axe() == []
        seen.check()


def test_updated_and_taken_down_from_the_page(served):
    with served.page("/endpoints?deploy=choose", size=WIDE, dark=True) as seen:
        settle(seen)
        # A model that nothing but a script can score says so.
        seen.page.get_by_test_id("endpoints-deploy-go").click()
        seen.page.locator("dialog >> text=/scoring script|without code|framework/i").last.wait_for(timeout=LONG_MS)
        seen.shot("endpoints-deploy-dark")
        seen.problems[:] = [problem for problem in seen.problems if "400" not in problem]
        seen.open(served.base + "/endpoints/birds-live?by=python")
        served.wait_live(seen)
        seen.page.wait_for_selector(HEALTHY, timeout=LONG_MS)
        seen.page.get_by_test_id("endpoint-consume").get_by_text("urllib.request").first.wait_for(timeout=LONG_MS)
        seen.page.get_by_test_id("endpoint-update").click()
        seen.page.get_by_label("Processes that answer").fill("2")
        seen.page.get_by_test_id("endpoint-update-save").click()
        seen.page.locator("[data-testid=endpoint-versions] >> text=/2 processes/").wait_for(timeout=LONG_MS)
        seen.shot("endpoint-wide-dark")
        seen.page.get_by_label("More to do with this endpoint").click()
        seen.page.get_by_role("menuitem", name="Take down").click()
        seen.page.get_by_test_id("confirm").click()
        seen.page.get_by_test_id("empty").wait_for(timeout=LONG_MS)
        seen.shot("endpoints-empty-dark")
        # The page may ask once more for what has just gone.
        seen.problems[:] = [problem for problem in seen.problems if "404" not in problem]
        seen.check()
