"""What is known of machines on a target of others: nobody who asks anew gets an answer from before."""

from __future__ import annotations

import threading

import pytest

from rookery.engine.engines.attached import Attached
from rookery.engine.engines.base import NodeInfo
from rookery.testing.engine_exam import wait_for
from rookery.testing.fake_cluster import FakeCluster
from rookery.testing.fake_engine import FakeEngine


class Slow(FakeEngine):
    """Tells what it saw when it was asked, but only when it may."""

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster)
        self.asked, self.answers = 0, threading.Semaphore(1)

    def nodes(self) -> list[NodeInfo]:
        seen = super().nodes()
        self.asked += 1
        self.answers.acquire(timeout=120)
        return seen


@pytest.fixture
def cluster():
    found = FakeCluster(2)
    yield found
    found.close()


def test_a_round_that_had_begun_before_is_not_the_answer(cluster):
    engine = Slow(cluster)
    attached = Attached("far", lambda: engine, lambda death: None)
    attached.start()
    try:
        wait_for(lambda: not attached.problem, "the engine")
        attached.refresh()
        wait_for(lambda: engine.asked == 2, "a round that has seen both of them up")
        cluster.kill_node("fake-0001")
        asking = threading.Thread(target=attached.recount, args=(120.0,))
        asking.start()
        wait_for(attached._look.is_set, "that it is asked for")
        engine.answers.release()
        wait_for(lambda: engine.asked == 3, "the next round")
        assert asking.is_alive()
        engine.answers.release()
        asking.join(120)
        assert [node.state for node in attached.census] == ["idle", "down"]
    finally:
        engine.answers.release(100)
        attached.stop()
