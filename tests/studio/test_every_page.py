"""Every page of the studio: nothing that axe finds, nothing that the policy refuses, no other host asked, nothing wider than the screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rookery.testing.browser import PHONE, WIDE
from tests.studio.filled import check_width, fill, settle
from tests.studio.served import serve

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parents[2] / "studio" / "src" / "pages"

# Addresses by the pattern of their route; {…} are names of what `fill` has made. A route that is not here fails a test below.
PAGES = {
    "/": ["/"],
    "/runs": ["/runs"],
    "/experiments": ["/experiments"],
    "/experiments/:experiment": ["/experiments/birds"],
    "/runs/:id": [
        *(f"/runs/{{good}}?tab={tab}" for tab in ("overview", "metrics", "logs", "outputs", "snapshot", "nodes")),
        "/runs/{good}?tab=reproduce",
        "/runs/{bad}",
    ],
    "/compare": ["/compare?runs={good},{bad}"],
    "/models": ["/models", "/models?register={good}"],
    "/models/:name": ["/models/birds?file=outputs/notes.txt"],
    "/environments": ["/environments", "/environments?view=built"],
    "/environments/:name": ["/environments/corvids"],
    "/environments/built/:key": [],  # building one takes a network: tests/studio/test_pages.py opens one that is not there
    "/compute": ["/compute", "/compute?new=yes"],
    "/compute/:name": ["/compute/local", "/compute/nest"],
    "/data": ["/data", "/data?view=stores", "/data?upload=yes"],
    "/data/:name": [
        "/data/birds",
        "/data/birds?file=notes.txt",
        "/data/birds?folder=east%20side&file=east%20side%2Frook.png",
        "/data/table",
    ],
    "/endpoints": ["/endpoints", "/endpoints?deploy=choose"],
    "/endpoints/:name": ["/endpoints/birds-live", "/endpoints/birds-live?by=sdk&last=300"],
    "/designer": [
        "/designer",
        "/designer?tab=runs",
        "/designer?tab=gallery",
        "/designer?tab=published",
        "/designer?yaml=yes",
    ],
    "/designer/drafts/:id": ["/designer/drafts/{draft}", "/designer/drafts/{draft}?node=split"],
    "/designer/runs/:id": [
        "/designer/runs/{piped}",
        *(
            f"/designer/runs/{{piped}}?node=split&tab={tab}"
            for tab in ("details", "metrics", "outputs", "logs", "parameters")
        ),
    ],
    "/designer/compare": ["/designer/compare?runs={piped},{piped_too}"],
    "/settings": [
        "/settings",
        *(f"/settings?tab={tab}" for tab in ("look", "tokens", "users", "audit")),
    ],
}
ADDRESSES = [address for found in PAGES.values() for address in found]


@pytest.fixture(scope="module")
def filled(studio):
    serve(studio, "birds-live")
    return fill(studio)


@pytest.fixture(scope="module", params=[(WIDE, False), (PHONE, True)], ids=["wide-light", "phone-dark"])
def seen(studio, filled, request):
    size, dark = request.param
    with studio.page("/", size=size, dark=dark, has_touch=size == PHONE) as page:
        yield page


def test_every_route_is_looked_at():
    found = {path for file in SOURCES.glob("*/route.ts") for path in re.findall(r'path: "([^"]+)"', file.read_text())}
    assert found, "no route was found: has the way they are written changed?"
    assert found - set(PAGES) == set(), "put an address of each into PAGES"


@pytest.mark.parametrize("address", ADDRESSES)
def test_page(studio, filled, seen, address):
    width = seen.page.viewport_size["width"]
    for _ in range(3):
        seen.problems.clear()
        seen.foreign.clear()
        seen.dropped = 0
        seen.open(filled["base"] + address.format(**filled))
        studio.wait_live(seen)
        settle(seen)
        # Chromium drops what is under way when the machine gets or loses a network interface; that is not the page's fault.
        if not seen.dropped:
            break
    assert seen.page.get_by_test_id("error").count() == 0, seen.page.get_by_test_id("error").first.inner_text()
    seen.page.locator("main h1").wait_for(state="attached")  # one: of two it is not known which
    name = re.sub(r"\W+", "-", address.replace("{", "").replace("}", "")).strip("-") or "home"
    seen.shot(f"page-{width}-{name}")
    assert seen.axe() == []
    check_width(seen, width)
    seen.check()
