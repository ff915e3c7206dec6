"""The routes of logs by line; what lies beneath is in tests/record/test_log_index.py."""

from __future__ import annotations

import pytest

from rookery.server import answer_views as v
from tests.server.test_search import strict

NAME = "user_logs/std_log.txt"


@pytest.fixture
def log(api):
    api.run()
    text = "".join(f"step {i}\n" for i in range(2000)) + "Traceback (most recent call last):\nValueError: grün\n"
    api.record.logs.append("run-1", NAME, 0, text.encode())
    return api


class TestLogs:
    def test_how_long_and_where_errors_are(self, log):
        found = strict(log.owner.get(f"/runs/run-1/log-index/{NAME}"))
        v.LogIndex.model_validate(found)
        assert found["lines"] == 2002
        assert [(mark["line"], mark["kind"]) for mark in found["marks"]] == [(2000, "traceback"), (2001, "error")]

    def test_lines(self, log):
        found = strict(log.owner.get(f"/runs/run-1/log-lines/{NAME}?start=1500&limit=2"))
        v.LogLines.model_validate(found)
        assert (found["start"], found["lines"], found["total"]) == (1500, ["step 1500", "step 1501"], 2002)
        part = log.owner.get(f"/runs/run-1/logs/{NAME}", params={"offset": found["offset"], "length": 9}).text
        assert part == "step 1500"
        last = strict(log.owner.get(f"/runs/run-1/log-lines/{NAME}?start=-1"))
        assert (last["start"], last["lines"]) == (2001, ["ValueError: grün"])
        assert last["end"] == last["size"]

    def test_search(self, log):
        found = strict(log.owner.get(f"/runs/run-1/log-search/{NAME}", params={"text": "STEP 199", "limit": 4}))
        v.LogMatches.model_validate(found)
        assert [match["line"] for match in found["matches"]] == [199, 1990, 1991, 1992]
        more = strict(
            log.owner.get(f"/runs/run-1/log-search/{NAME}", params={"text": "step 199", "after": found["next"]})
        )
        assert [match["line"] for match in more["matches"]] == list(range(1993, 2000))
        exact = log.owner.get(f"/runs/run-1/log-search/{NAME}", params={"text": "STEP", "case": "true"})
        assert strict(exact)["matches"] == []

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/runs/nobody/log-index/x", 404),
            ("/runs/nobody/log-lines/x", 404),
            ("/runs/nobody/log-search/x?text=a", 404),
            ("/runs/run-1/log-index/nothing", 404),
            ("/runs/run-1/log-lines/nothing", 404),
            ("/runs/run-1/log-lines/..%2F..%2Fetc%2Fpasswd", 400),
            (f"/runs/run-1/log-lines/{NAME}?limit=0", 422),
            (f"/runs/run-1/log-lines/{NAME}?limit=5001", 422),
            (f"/runs/run-1/log-lines/{NAME}?start={10**30}", 422),
            (f"/runs/run-1/log-search/{NAME}", 422),
            (f"/runs/run-1/log-search/{NAME}?text=", 422),
            (f"/runs/run-1/log-search/{NAME}?text=a&after=-1", 422),
        ],
    )
    def test_what_is_wrong_is_refused(self, log, path, status):
        response = log.owner.get(path)
        assert response.status_code == status, response.text
        assert response.json()["error"]["message"]

    def test_beyond_the_end_there_is_nothing(self, log):
        assert strict(log.owner.get(f"/runs/run-1/log-lines/{NAME}?start=99999"))["lines"] == []
        found = strict(log.owner.get(f"/runs/run-1/log-search/{NAME}?text=step&after=9999999"))
        assert (found["matches"], found["next"]) == ([], None)
