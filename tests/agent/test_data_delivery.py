"""Inputs that an agent fetches: killed half way, with bytes that are wrong, and cancelled meanwhile."""

from __future__ import annotations

import hashlib
import os
import threading

import pytest

from rookery.agent.data_cache import DataCache
from rookery.spec.data import InputJob
from rookery.spec.manifest import Entry, ManifestStore, make_manifest
from rookery.testing.agent_bench import wait_until

MB = 1024 * 1024
SCRIPT = """
import hashlib, os
for name in sorted(os.listdir(os.environ["data"])):
    with open(os.path.join(os.environ["data"], name), "rb") as f:
        print(name, hashlib.sha256(f.read()).hexdigest())
"""


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Delivery:
    """A set of one small file and a large one, on a store that the agent does not see."""

    def __init__(self, bench):
        self.keeper = bench.keeper
        self.files = {"a small one": b"small", "large": os.urandom(8 * MB)}
        self.keeper.data = {sha(data): data for data in self.files.values()}
        entries = [Entry(name, len(data), sha(data), 0, "") for name, data in self.files.items()]
        self.manifest = make_manifest([ManifestStore("http", "far")], entries)
        self.keeper.manifests[self.manifest.id] = self.manifest
        self.cache = DataCache(os.path.join(bench.folder, "a cache"))
        self.large = sha(self.files["large"])
        self.partial = os.path.join(self.cache.root, "incoming", "." + self.large)
        given = InputJob("data", "mount", self.manifest.id, variables=("data",))
        self.make_job = lambda: bench.job(SCRIPT, inputs=(given,), data_cache=self.cache.root)
        self.job = self.make_job()
        self.log = "".join(f"{name} {sha(data)}\n" for name, data in sorted(self.files.items()))

    def asked(self, path="large"):
        return [start for name, start in self.keeper.data_asked if name == path]

    def hold_after(self, size):
        """The large file stops in the middle until the event that this returns is set."""
        self.keeper.data_gate = (size, threading.Event())
        return self.keeper.data_gate[1]

    def wait_for_half(self, size):
        wait_until(lambda: os.path.exists(self.partial) and os.path.getsize(self.partial) >= size, 60.0)


@pytest.fixture
def delivery(bench):
    made = Delivery(bench)
    yield made
    if made.keeper.data_gate is not None:
        made.keeper.data_gate[1].set()


def test_fetched_once_and_then_at_hand(bench, delivery):
    for times in (1, 2):
        outcome = bench.run(delivery.job)
        assert outcome["result"] == "completed", outcome
        assert bench.log() == delivery.log * times
        bench.keeper.events.clear()
        delivery.job = delivery.make_job()  # an agent clears up its folder
    assert delivery.asked() == [0]
    assert not os.listdir(os.path.dirname(delivery.partial))


def test_killed_while_it_fetches_nothing_half_is_complete_and_the_next_goes_on(bench, delivery):
    gate = delivery.hold_after(5 * MB)
    agent = bench.start(delivery.job)
    delivery.wait_for_half(5 * MB)
    agent.kill()
    agent.wait()
    assert not delivery.cache.has_tree(delivery.manifest.id)
    assert not os.path.exists(delivery.cache.tree(delivery.manifest.id))
    assert not os.path.exists(delivery.cache.blob(delivery.large))
    delivery.keeper.data_gate = None
    gate.set()
    assert bench.run(delivery.job)["result"] == "completed"
    assert bench.log() == delivery.log
    assert delivery.asked() == [0, 5 * MB]


def test_what_was_left_and_is_wrong_is_fetched_again(bench, delivery):
    os.makedirs(os.path.dirname(delivery.partial))
    with open(delivery.partial, "wb") as f:
        f.write(b"x" * MB)
    assert bench.run(delivery.job)["result"] == "completed"
    assert bench.log() == delivery.log
    assert delivery.asked() == [MB, 0]


def test_other_bytes_than_listed_fail_the_run(bench, delivery):
    delivery.keeper.data[delivery.large] = bytes(8 * MB)
    outcome = bench.run(delivery.job)
    assert outcome["result"] == "failed"
    assert outcome["cause"]["kind"] == "DataError"
    assert "'large' came with other bytes" in outcome["cause"]["summary"]
    assert not delivery.cache.has_tree(delivery.manifest.id)
    assert not os.path.exists(delivery.partial)


def test_two_agents_of_a_machine_fetch_a_content_once(bench, delivery):
    """The other one holds it, and brings it; it would else be fetched twice, or written by both."""
    with delivery.cache.incoming(delivery.large, True) as file:
        agent = bench.start(delivery.job)
        wait_until(lambda: os.path.exists(delivery.cache.tree(delivery.manifest.id) + ".making"), 60.0)
        bench.keeper.wait_until(lambda: any(kind == "beat" for kind, _ in bench.keeper.events), 60.0)
        file.write(delivery.files["large"])
        file.flush()
        delivery.cache.keep(delivery.large)
    assert agent.wait(90) == 0
    assert bench.log() == delivery.log
    assert delivery.asked() == []


def test_tells_how_far_it_is_and_hears_of_a_cancel(bench, delivery):
    gate = delivery.hold_after(5 * MB)
    agent = bench.start(delivery.job)
    events = bench.keeper.events

    def said():
        return [body.get("doing") for kind, body in list(events) if kind == "beat"]

    bench.keeper.wait_until(lambda: "fetching input 'data': 5.2 of 8.4 MB" in said(), 60.0)
    bench.keeper.cancel = True
    before = len(said())
    bench.keeper.wait_until(lambda: len(said()) >= before + 2, 60.0)  # the first of them was answered
    gate.set()
    assert agent.wait(90) == 0
    assert bench.keeper.wait_for("outcome")["result"] == "canceled"
    assert bench.log() == ""
    assert not delivery.cache.has_tree(delivery.manifest.id)
