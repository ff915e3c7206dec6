"""The engine of runs that are exported: what it says of agents that it has never seen."""

from __future__ import annotations

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.kubernetes import KubernetesEngine
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import Deaths, wait_for

PLACES = [Place("run", 1, node, f"/nowhere/{node}", "k8s") for node in range(2)]


@pytest.fixture
def deaths():
    return Deaths()


@pytest.fixture
def engine(deaths):
    spec = ClusterSpec(engine="kubernetes", max_nodes=0, options={"image": "i", "lost_after_s": 7})
    made = KubernetesEngine("k8s", spec, lambda gang: "", "/nowhere")
    made.start(deaths)
    yield made
    made.stop()


def test_agents_count_as_alive_until_they_are_given_up(engine, deaths):
    engine.place(PLACES)
    assert engine.adopt(PLACES) == set(PLACES)  # also by the next keeper, which has noted nothing
    assert "waiting for its agents" in engine.waiting(PLACES[0])
    engine.kill(PLACES[0])
    engine.kill(PLACES[0])
    wait_for(lambda: deaths.of(PLACES[0]), "its death")
    assert "given up" in deaths.of(PLACES[0])[0].reason
    assert engine.adopt(PLACES) == {PLACES[1]}
    assert engine.waiting(PLACES[0]) == ""
    engine.kill(PLACES[1])
    wait_for(lambda: deaths.of(PLACES[1]), "the other's")
    assert len(deaths.of(PLACES[0])) == 1, "it was told twice"


def test_a_place_may_be_used_again(engine):
    engine.kill(PLACES[0])
    engine.place(PLACES)
    assert engine.is_alive(PLACES[0])


def test_nobody_can_be_sent_to_a_pod(engine):
    with pytest.raises(ComputeError, match="files go with the pod"):
        engine.place([Place("run", 1, 0, "/nowhere", "k8s", on="a-node")])


def test_says_when_an_agent_is_lost(engine):
    assert engine.lost_after_s == 7.0
