from __future__ import annotations

import hashlib
import io
import os

import pytest

from rookery.client import Client, FilePart, upload_content
from rookery.errors import ConflictError
from rookery.testing.cutting_proxy import CuttingProxy

MB = 1024 * 1024


def sha(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def cut_client(api):
    proxy = CuttingProxy(api.port, cuts=6)
    with open(api.record.paths.token) as f:
        client = Client.for_url(f"http://127.0.0.1:{proxy.port}", f.read().strip())
    yield client, proxy
    client.close()
    proxy.close()


class TestResumed:
    def test_an_upload_goes_on_after_every_cut(self, api, cut_client):
        client, proxy = cut_client
        data = os.urandom(14 * MB)
        sent = []
        send = client.send_part
        client.send_part = lambda path, part, offset: sent.append(offset) or send(path, part, offset)
        upload_content(client, sha(data), FilePart(io.BytesIO(data), len(data)))
        with api.record.content.open(sha(data)) as f:
            assert f.read() == data
        assert proxy.cuts < 6  # it was cut
        assert max(sent) > 0  # and went on, not from the beginning
        assert os.listdir(api.record.content.incoming) == []

    def test_a_download_goes_on_after_every_cut(self, api, cut_client):
        client, proxy = cut_client
        data = os.urandom(14 * MB)
        stored, _ = api.record.content.put(io.BytesIO(data))
        target = io.BytesIO()
        client.download(f"/content/{stored}", target)
        assert target.getvalue() == data
        assert proxy.cuts < 6


class TestParts:
    def patch(self, api, name, data, offset, total):
        headers = {"Upload-Offset": str(offset), "Upload-Length": str(total)}
        return api.owner.patch(f"/content/{name}", content=data, headers=headers)

    def test_part_by_part(self, api):
        name = sha(b"abcdef")
        assert api.owner.get(f"/content/{name}/upload").json() == {"stored": False, "offset": 0}
        assert self.patch(api, name, b"abc", 0, 6).json() == {"stored": False, "offset": 3}
        assert api.owner.get(f"/content/{name}/upload").json() == {"stored": False, "offset": 3}
        gap = self.patch(api, name, b"f", 5, 6)
        assert (gap.status_code, gap.json()["error"]["details"]["offset"]) == (409, 3)
        assert self.patch(api, name, b"def", 3, 6).json() == {"stored": True, "offset": 6}
        assert api.owner.get(f"/content/{name}").content == b"abcdef"
        assert api.owner.get(f"/content/{name}/upload").json() == {"stored": True, "offset": 6}

    def test_other_bytes_are_thrown_away(self, api):
        name = sha(b"abcdef")
        answer = self.patch(api, name, b"abcdeX", 0, 6)
        assert answer.status_code == 409
        assert "changed on the way" in answer.json()["error"]["message"]
        assert api.owner.get(f"/content/{name}/upload").json() == {"stored": False, "offset": 0}

    @pytest.mark.parametrize(
        ("name", "headers"),
        [
            ("x", {"Upload-Offset": "0", "Upload-Length": "1"}),
            ("a" * 64, {}),
            ("a" * 64, {"Upload-Offset": "-1", "Upload-Length": "1"}),
            ("a" * 64, {"Upload-Offset": "2", "Upload-Length": "1"}),
            ("a" * 64, {"Upload-Offset": "0", "Upload-Length": "1"}),
        ],
    )
    def test_rubbish_is_refused(self, api, name, headers):
        assert 400 <= api.owner.patch(f"/content/{name}", content=b"more than one", headers=headers).status_code < 500

    def test_whoever_comes_later_goes_on(self, api):
        partials = api.record.partials
        first = partials.open(sha(b"abcdef"), 0, 6)
        first.write(b"abc")
        second = partials.open(sha(b"abcdef"), 3, 6)
        with pytest.raises(ConflictError, match="another request"):
            first.write(b"d")
        second.write(b"def")
        assert not partials.finish(first)
        assert partials.finish(second)
