"""No run is ever forgotten: whatever has happened to it, a keeper that takes it up asks for something that will come.

The world here answers only what it was asked (`World.pending`), so a run that waits for nobody is found as one that has
not ended when nothing is pending any more.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.engine import actions as act
from rookery.engine import observations as obs
from rookery.engine.run_state import NodePhase, RunState, load_state, store_state
from rookery.engine.state import step
from tests.engine.test_state import BUILT, COMPLETED, FAILED, LOST, PREEMPTED, granted, lives

PATIENCE = 400


class World:
    """Environments, nodes and agents, as far as somebody has asked for them."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.wanted: set[str] = set()  # 'environment', 'nodes'
        self.agents: dict[tuple[int, int], str] = {}  # (attempt, node) → 'run' or 'finish'

    @property
    def pending(self) -> list[object]:
        return [*sorted(self.wanted), *sorted(self.agents)]

    def do(self, state: RunState, todo: tuple[act.Action, ...]) -> None:
        for action in todo:
            if isinstance(action, act.PrepareEnvironment):
                self.wanted.add("environment")
            elif isinstance(action, act.Enqueue):
                self.wanted.add("nodes")
            elif isinstance(action, act.LeaveQueue):
                self.wanted.discard("nodes")
            elif isinstance(action, act.PlaceAgents):
                for node, one in enumerate(state.nodes):
                    if one.phase == NodePhase.PLACED:
                        self.agents[action.attempt, node] = "run"
            elif isinstance(action, act.AdoptAgents):
                # One that is alive is watched, one that is dead is reported: either way it comes to an end.
                for node, one in enumerate(state.nodes):
                    if one.phase != NodePhase.SHIPPED:
                        self.agents[action.attempt, node] = "run" if one.phase in NodePhase.BUSY else "finish"
            elif isinstance(action, act.StartFinisher):
                self.agents[action.attempt, action.node] = "finish"

    def next(self, state: RunState) -> list[obs.Observation]:
        """What is seen next."""
        what = self._draw(st.sampled_from(self.pending))
        if what == "environment":
            self.wanted.discard("environment")
            return [obs.EnvironmentReady(BUILT)]
        if what == "nodes":
            self.wanted.discard("nodes")
            return [granted(state.gang)]
        attempt, node = what  # type: ignore[misc]
        mode = self.agents.pop((attempt, node))
        dead = obs.AgentLost(attempt, node, "killed")
        outcome = self._draw(st.sampled_from([COMPLETED, FAILED, LOST, PREEMPTED]))
        good = [obs.RanksEnded(attempt, node, outcome), obs.Shipped(attempt, node)]
        return [dead] if self._draw(st.booleans()) else good if mode == "run" else good[1:]


@st.composite
def taken_up(draw: st.DrawFn) -> tuple[list[obs.Observation], RunState, list[object]]:
    """(what had happened, what became of the run afterwards, what was still pending when nothing more came)."""
    state, sequence = draw(lives().filter(lambda life: life[0].kind != "child"))  # a child ends with its parent
    for seen in sequence:
        state, _ = step(state, seen)
    world = World(draw)
    state, todo = step(load_state(store_state(state)), obs.Recovered())
    world.do(state, todo)
    for _ in range(PATIENCE):
        if state.status.is_terminal or not world.pending:
            break
        for seen in world.next(state):
            state, todo = step(state, seen)
            world.do(state, todo)
    return sequence, state, world.pending


@settings(max_examples=300, deadline=None)
@given(taken_up())
def test_whatever_happened_a_run_that_is_taken_up_comes_to_its_end(story):
    _sequence, state, pending = story
    assert state.status.is_terminal, f"it waits for nobody ({pending} pending): {state}"


def test_the_check_can_fail():
    """A queued run whose keeper did not ask for nodes again would be found."""
    world = World(lambda strategy: None)  # type: ignore[arg-type, return-value]
    state, todo = step(RunState(), obs.Submitted())
    assert (todo, world.pending) == ((act.PrepareEnvironment(),), [])
    world.do(state, todo)
    assert world.pending == ["environment"]
