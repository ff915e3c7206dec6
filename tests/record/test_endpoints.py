"""Endpoints in the record: on both databases."""

from __future__ import annotations

import time

import pytest

from rookery.errors import ConflictError, EndpointNotFoundError, NotFoundError
from tests.record.test_collect import age, collect

WHAT = {"models": [], "inference": {"snapshot_id": "s" * 64}, "no_code": None}


@pytest.fixture
def made(record):
    row = {
        "name": "birds",
        "kind": "aks",
        "state": "Transitioning",
        "error": None,
        "operation": {"kind": "create"},
        "about": {},
    }
    version = {
        "name": "default", "traffic": 100.0, "is_default": 1, "state": "Transitioning", "error": None, "last_revision": 1,
        "wanted": {"revision": 1, "what": WHAT}, "serving": None, "about": {},
    }  # fmt: skip
    keys = {"primary": "p" * 20, "secondary": "s" * 20}
    return lambda: record.endpoints.create({**row, "settings": {"port": 1}, "created_by": "me"}, version, keys)


def bucket(number: int, **more):
    found = {"number": number, "version": "default", "start": int(time.time()) // 10 * 10, "requests": 2, "errors": 1}
    return {**found, "run_ms": 3.0, "queue_ms": 1.0, "batch": 2, "bins": {"80": 2}, **more}


class TestEndpoints:
    def test_made_changed_and_deleted(self, record, made):
        before = record.events.last_seq()
        assert made()["versions"][0]["wanted"]["revision"] == 1
        with pytest.raises(ConflictError, match="already"):
            made()
        record.endpoints.change("birds", {"state": "Healthy"}, {"default": {"state": "Healthy", "wanted": None}})
        found = record.endpoints.get("birds")
        assert (found["state"], found["versions"][0]["state"], found["versions"][0]["wanted"]) == (
            "Healthy",
            "Healthy",
            None,
        )
        rows, _ = record.events.after(before, kinds=["endpoint"])
        assert [row["data"].get("state") for row in rows] == ["Transitioning", "Healthy"]
        record.endpoints.add_numbers("birds", [bucket(1)], found["settings"])
        record.endpoints.delete("birds")
        assert record.endpoints.count() == 0
        assert record.endpoints.keys("birds") == {}
        with pytest.raises(EndpointNotFoundError, match="Known: none"):
            record.endpoints.change("birds", {"state": "Failed"})
        record.endpoints.add_numbers("birds", [bucket(2)], {})  # a front that did not know yet
        made()

    def test_keys_are_sealed(self, record, made):
        made()
        assert record.endpoints.keys("birds")["primary"] == "p" * 20
        record.endpoints.set_key("birds", "primary", "another-key")
        assert record.endpoints.keys("birds") == {"primary": "another-key", "secondary": "s" * 20}
        assert "endpoint/birds" not in str(record.endpoints.get("birds"))

    def test_numbers_add_up(self, record, made):
        made()
        record.endpoints.add_numbers("birds", [bucket(1), bucket(2, start=10)], {"port": 1, "have": 2})
        record.endpoints.add_numbers("birds", [bucket(1, bins={"80": 1, "90": 1})], {"port": 1, "have": 1})
        found = record.endpoints.get("birds")
        assert (found["requests"], found["errors"], found["settings"]["have"]) == (6, 3, 1)
        [(version, _, data)] = record.endpoints.numbers("birds", 0)  # the one of 1970 is too old to be kept
        assert (version, data["requests"], data["bins"], data["run_ms"]) == ("default", 4, {"80": 3, "90": 1}, 6.0)

    def test_profiles(self, record):
        with pytest.raises(NotFoundError):
            record.endpoints.profile("p")
        row = {"state": "Running", "error": None, "asked": {}, "result": {}, "created_by": "me"}
        record.endpoints.put_profile("p", row)
        record.endpoints.put_profile("p", {"state": "Succeeded", "result": {"n": 1}})
        assert record.endpoints.profile("p")["result"] == {"n": 1}
        assert [one["state"] for one in record.endpoints.profiles()] == ["Succeeded"]


class TestCollecting:
    def test_what_an_endpoint_is_made_of_stays(self, record, made):
        data = b"print(1)"
        with record.content.writer() as writer:
            writer.write(data)
            sha, size = writer.commit()
        entries = [{"path": "score.py", "sha256": sha, "size": size, "mode": 0o644, "link": None}]
        WHAT["inference"]["snapshot_id"] = record.snapshots.create(entries)["id"]
        made()
        age(record)
        assert collect(record) == {}
        assert record.snapshots.entries(WHAT["inference"]["snapshot_id"])
        record.endpoints.delete("birds")
        assert set(collect(record)) == {"snapshots", "content"}
        with pytest.raises(NotFoundError):
            record.snapshots.entries(WHAT["inference"]["snapshot_id"])
