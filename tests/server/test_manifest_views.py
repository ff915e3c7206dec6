"""Data without a name, by its manifest: folders, previews and pictures of what a step has made."""

from __future__ import annotations

import pytest

from tests.server.test_data import PNG, put, register


@pytest.fixture
def manifest(api):
    put(
        api,
        {
            "image/a.png": PNG,
            "image/b.png": b"no picture",
            "table.csv": b"bird,weight\nrook,0.45\n",
            "page.html": b"<script>1</script>",
        },
    )
    return f"/data/manifests/{register(api)['manifest_id']}"


def test_folders(api, manifest):
    top = api.owner.get(f"{manifest}/folder").json()
    assert [(each["name"], each["is_folder"]) for each in top["entries"]] == [
        ("image", True),
        ("page.html", False),
        ("table.csv", False),
    ]
    below = api.owner.get(f"{manifest}/folder", params={"path": "image"}).json()
    assert (below["total"], below["pictures"]) == (2, 2)
    told = api.owner.get(f"{manifest}/folder", params={"path": "nothing"})
    assert (told.status_code, "no folder 'nothing'" in told.json()["error"]["message"]) == (400, True)


def test_a_file_as_what_it_is(api, manifest):
    shown = api.owner.get(f"{manifest}/preview/table.csv").json()
    assert (shown["kind"], shown["rows"]) == ("table", [["rook", "0.45"]])
    assert api.owner.get(f"{manifest}/preview/gone.csv").status_code in (400, 404)


def test_pictures_only_and_nothing_that_runs(api, manifest):
    shown = api.owner.get(f"{manifest}/picture/image/a.png")
    assert (shown.status_code, shown.headers["content-type"], shown.content) == (200, "image/png", PNG)
    assert "sandbox" in shown.headers["content-security-policy"]
    for path in ("image/b.png", "page.html"):
        told = api.owner.get(f"{manifest}/picture/{path}")
        assert (told.status_code, "is not a PNG" in told.json()["error"]["message"]) == (400, True)


def test_a_manifest_that_is_not_there(api):
    for view in ("folder", "preview/a", "picture/a"):
        assert api.owner.get(f"/data/manifests/none/{view}").status_code == 404
