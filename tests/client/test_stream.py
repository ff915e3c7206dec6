from __future__ import annotations

import threading

import pytest

from rookery.client import Client, find_keeper
from rookery.client.stream import Event, _Parser
from rookery.errors import NotFoundError

from .conftest import kill_keeper, wait_for
from .fake_keeper import FakeKeeper


@pytest.fixture
def client(root):
    return Client.for_workspace(root)


class TestStream:
    def test_gives_events_in_order_and_ends(self, root, client):
        fake = FakeKeeper(root)
        fake.emit("status", {"status": "Running"})
        fake.emit("log", {"text": "two\nlines"})
        fake.emit("end", {})
        with client.stream("/runs/r/events", {"until": "end"}) as stream:
            assert list(stream) == [
                Event("status", 1, {"status": "Running"}),
                Event("log", 2, {"text": "two\nlines"}),
                Event("end", 2, {}),
            ]
            assert list(stream) == []

    def test_after(self, root, client):
        fake = FakeKeeper(root)
        for n in range(3):
            fake.emit("metric", {"n": n})
        fake.emit("end", {})
        with client.stream("/runs/r/events", after=2) as stream:
            assert [e.seq for e in stream if e.kind != "end"] == [3]

    def test_goes_on_across_a_kill(self, root, client):
        fake = FakeKeeper(root)
        for n in range(50):
            fake.emit("metric", {"n": n})
        with client.stream("/runs/r/events") as stream:
            seen = [next(stream) for _ in range(20)]
            first = find_keeper(root).pid
            kill_keeper(root)
            for n in range(50, 60):
                fake.emit("metric", {"n": n})
            fake.emit("end", {})
            seen.extend(stream)
        assert [e.data["n"] for e in seen if e.kind == "metric"] == list(range(60))
        assert find_keeper(root).pid != first

    def test_close_wakes_a_reader(self, client):
        stream = client.stream("/runs/r/events")
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(stream))
        reader.start()
        wait_for(lambda: stream._response is not None)
        stream.close()
        reader.join(60)
        assert not reader.is_alive()
        assert seen == []

    def test_close_before_and_twice(self, client):
        stream = client.stream("/runs/r/events")
        stream.close()
        stream.close()
        assert list(stream) == []

    def test_raises_what_waiting_cannot_change(self, client):
        with client.stream("/nowhere") as stream, pytest.raises(NotFoundError):
            next(stream)


class TestParser:
    def test_a_bare_id_is_where_it_begins(self):
        assert _Parser().feed(b"id: 7\n: hello\n\nid: 8\nevent: run\ndata: {}\n\n") == [
            Event("", 7, None),
            Event("run", 8, {}),
        ]

    def test_any_cut_gives_the_same(self):
        text = ': hi\n\nid: 1\nevent: log\ndata: {"a":\ndata: "é"}\n\nevent: end\ndata: {}\n\n'.encode()
        whole = _Parser().feed(text)
        assert whole == [Event("log", 1, {"a": "é"}), Event("end", 0, {})]
        for cut in range(len(text)):
            parser = _Parser()
            assert parser.feed(text[:cut]) + parser.feed(text[cut:]) == whole
