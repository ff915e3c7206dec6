"""What may pass by itself is tried again for a while; what will not is told soon. Over a bridge that is made up, and a real one."""

from __future__ import annotations

import os
import sys
import textwrap
from types import SimpleNamespace

import pytest

from rookery.engine.engines.attached import Attached
from rookery.engine.engines.ray import RayEngine, supervisor
from rookery.engine.engines.ray.bridge.connecting import ConnectError, _explained
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec
from rookery.testing.engine_exam import stand_in_boot, wait_for
from rookery.testing.ray_cluster import STUMBLING, RayCluster

# Takes a step of its plan at every start: a failure of that kind, or "ok": a cluster of one node; "lose": it is lost
# when it is asked to run a program. The last step is taken for ever.
BRIDGE = """
    #!{python} -I
    import json, os, sys
    folder, plan = {folder!r}, {plan!r}
    number = len(os.listdir(folder))
    open(os.path.join(folder, str(number)), "w").close()
    step = plan[min(number, len(plan) - 1)]
    def say(what, **data):
        sys.stdout.write(json.dumps(dict(data, say=what)) + "\\n")
        sys.stdout.flush()
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "connect" and step not in ("ok", "lose"):
            say("failed", kind=step, words="It " + step + ".", ray="", python="")
            sys.exit(2)
        if order["do"] == "connect":
            say("connected", ray="2.60.0", python="3.11", mode="client", address="ray://head:10001", dashboard="")
            has = {{"CPU": 2.0}}
            node = dict(id="a", name="r0", address="10.0.0.1", alive=True, resources=has, free=has, memory=0, kind="", death="")
            say("nodes", nodes=[node], scaler=[], patience_s=60)
        if order["do"] == "run" and step == "lose":
            say("failed", kind="lost", words="It was lost.", ray="", python="")
            sys.exit(3)
        if order["do"] == "run":
            say("answer", id=order["id"], node="r0", exit_code=0, output="done")
"""


@pytest.fixture
def make(tmp_path):
    """An engine over a bridge that behaves by plan; (engine, how many bridges were started)."""
    made = []

    def start(*plan, is_started=True):
        folder, state = tmp_path / "starts", tmp_path / "state"
        folder.mkdir()
        state.mkdir()
        program = tmp_path / "bridge"
        text = textwrap.dedent(BRIDGE).strip().format(python=sys.executable, folder=str(folder), plan=plan)
        program.write_text(text + "\n")
        program.chmod(0o755)
        options = {"address": "ray://head:10001", "auth": "disabled", "bridge_python": str(program)}
        spec = ClusterSpec(engine="ray", options=options, cpus_per_node=1, gpus_per_node=0)
        engine = RayEngine("made-up", spec, stand_in_boot, str(state))
        if is_started:
            engine.start(lambda death: None)
            made.append(engine)
        return engine, lambda: len(list(folder.iterdir()))

    yield start
    for engine in made:
        engine.stop()


class TestStumbles:
    @pytest.mark.parametrize("kind", ["stumbled", "silent", "lost"])
    def test_are_tried_again_until_it_works(self, make, kind):
        engine, starts = make(kind, kind, kind, "ok")
        assert [node.name for node in engine.nodes()] == ["r0"]
        assert starts() == 4

    def test_are_told_when_they_do_not_pass(self, make, monkeypatch, tmp_path):
        # Every try takes half a second by this clock, however busy the machine is.
        clock = SimpleNamespace(monotonic=lambda: len(os.listdir(tmp_path / "starts")) * 0.5)
        monkeypatch.setattr(supervisor, "time", clock)
        monkeypatch.setattr(supervisor, "PASSING_S", 1.0)
        engine, starts = make("stumbled")
        with pytest.raises(ComputeError, match=r"It stumbled\. \(\d+ tries in \d+ s\.\)"):
            engine.nodes()
        assert starts() > 2

    def test_do_not_let_a_target_be_refused(self, make):
        """As attaching waits for it."""
        engine, _ = make("stumbled", "stumbled", "stumbled", "ok", is_started=False)
        attached = Attached("made-up", lambda: engine, lambda death: None)
        attached.start()
        try:
            assert attached.wait_usable(60), attached.fault
            assert [node.name for node in attached.census] == ["r0"]
        finally:
            attached.stop()

    @pytest.mark.slow
    def test_are_no_sign_of_a_dead_head(self, make, monkeypatch):
        monkeypatch.setattr(supervisor, "PASSING_S", 0.0)
        engine, starts = make("unreachable", "stumbled")
        wait_for(lambda: engine._supervisor.away_since is not None, "that it is missed")
        wait_for(lambda: starts() >= 3 and engine._supervisor.away_since is None, "that it is there again")

    def test_a_program_is_run_again_when_the_bridge_was_lost(self, make):
        engine, starts = make("lose", "stumbled", "stumbled", "ok")
        assert engine.run_on_node("print('done')", 30).output == "done"
        assert starts() == 4


def test_what_does_not_pass_is_told_at_the_second_time(make):
    engine, starts = make("unreachable")
    with pytest.raises(ComputeError, match="It unreachable"):
        engine.nodes()
    assert starts() >= 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionAbortedError("Initialization failure from server:\nRuntimeError: Starting … failed."), "stumbled"),
        (ConnectionError("ray client connection timeout"), "silent"),
        (RuntimeError("cluster was started with:\n Ray: 2.9.0\n Python: 3.10.1\n"), "mismatch"),
        (RuntimeError("Unauthenticated"), "auth"),
        (RuntimeError("no such thing"), "unreachable"),
    ],
)
def test_kinds_of_failure(error, kind):
    explained = _explained(error, "ray://head:10001")
    assert isinstance(explained, ConnectError)
    assert explained.kind == kind


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_head_that_stumbles_is_attached_every_time(tmp_path):
    """Ray as it comes: about one client in four is turned away."""
    with RayCluster(num_nodes=1, own_pids=True, variables=STUMBLING) as cluster:
        for number in range(5):
            state = tmp_path / str(number)
            state.mkdir()
            spec = ClusterSpec(engine="ray", options=cluster.options, cpus_per_node=1, gpus_per_node=0)
            engine = RayEngine("stumbling", spec, stand_in_boot, str(state))
            engine.start(lambda death: None)
            try:
                assert [node.name for node in engine.nodes()] == ["r0"]
                assert engine.run_on_node("print(6 * 7)", 60).output.strip() == "42"
            finally:
                engine.stop()
