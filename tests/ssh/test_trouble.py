"""What an SSH engine does when something is wrong: connections, keys, machines, keepers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.ssh import SshEngine
from rookery.engine.processes import is_running
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.engine_exam import Deaths
from rookery.testing.stand_in import stand_in_boot, wait_for
from tests.ssh.conftest import read, told

pytestmark = pytest.mark.slow


class TestConnection:
    def test_a_lost_connection_is_not_a_death(self, make, machines):
        engine, deaths = make()
        place = make.place()
        engine.place([place])
        agent = make.up(place)
        machines.end_sshd("m0")
        try:
            words = wait_for(lambda: engine.waiting(place), "what is wrong")
            assert "has not answered since" in words
            assert engine.is_alive(place)
            assert engine.nodes()[0].state == "down"
            assert is_running(agent["pid"], agent["start_ticks"])
        finally:
            machines.serve("m0")
        wait_for(lambda: engine.waiting(place) == "", "the connection")
        assert not deaths.seen
        engine.kill(place)
        assert wait_for(lambda: deaths.of(place), "the death")[0].signal == "SIGKILL"

    def test_what_happened_while_it_was_away_is_told_with_its_exit_code(self, make, machines):
        engine, deaths = make()
        place = make.place()
        engine.place([place])
        agent = make.up(place)
        machines.end_sshd("m0")
        try:
            wait_for(lambda: engine.waiting(place), "that it is lost")
            os.kill(agent["pid"], signal.SIGTERM)
        finally:
            machines.serve("m0")
        death = wait_for(lambda: deaths.of(place), "the death")[0]
        assert (death.exit_code, death.signal) == (None, "SIGTERM")

    def test_a_cut_cable_is_noticed_and_survived(self, make, machines):
        engine, deaths = make()
        place = make.place()
        engine.place([place])
        make.up(place)
        node = machines.network["m0"]
        node.cut()
        try:
            wait_for(lambda: engine.waiting(place), "that it is noticed")
            other = make.place(node=1)
            engine.place([other])
            assert "has not answered" in wait_for(lambda: engine.waiting(other), "a reason")
            assert engine.is_alive(place)
        finally:
            node.restore()
        make.up(other)  # it was started when the machine came back, and once
        assert not deaths.seen
        engine.kill(place)
        engine.kill(other)
        wait_for(lambda: deaths.of(place) and deaths.of(other), "the deaths")

    def test_gives_a_machine_up_and_kills_what_was_left_there(self, make, machines):
        engine, deaths = make(lost_after_s=3)
        wait_for(lambda: engine.nodes()[0].state == "idle", "a connection, which may take longer than that")
        place = make.place(child=True)
        engine.place([place])
        agent = make.up(place)
        child = wait_for(lambda: read(place, "child.json"), "its rank")["pid"]
        machines.end_sshd("m0")
        try:
            death = wait_for(lambda: deaths.of(place), "the death")[0]
            assert "lost_after_s=3" in death.reason
            assert machines.network["m0"].address in death.reason
            assert not engine.is_alive(place)
            assert is_running(agent["pid"], agent["start_ticks"])
        finally:
            machines.serve("m0")
        wait_for(lambda: not is_running(agent["pid"], agent["start_ticks"]), "the end of the agent")
        wait_for(lambda: not is_running(child, 0), "the end of its rank")
        assert len(deaths.seen) == 1

    def test_a_machine_that_comes_back_without_the_agent(self, make, machines):
        engine, deaths = make()
        place = make.place()
        engine.place([place])
        make.up(place)
        machines.crash("m0")
        try:
            wait_for(lambda: engine.waiting(place), "that it is noticed")
            assert not deaths.seen
        finally:
            machines.boot("m0")
        death = wait_for(lambda: deaths.of(place), "the death")[0]
        assert "is gone" in death.reason
        assert machines.network["m0"].address in death.reason


class TestKeeper:
    def test_killed_it_leaves_agents_which_the_next_one_finds(self, make, machines, tmp_path):
        place = make.place()
        program = textwrap.dedent(
            """
            import json, sys, time
            from rookery.engine.engines.base import Place
            from rookery.engine.engines.ssh import SshEngine
            from rookery.spec.compute import ClusterSpec, Reach
            from rookery.testing.stand_in import stand_in_boot
            options, home, state, place = json.loads(sys.argv[1])
            spec = ClusterSpec(engine="ssh", options=options, reach=Reach(node_home=home))
            engine = SshEngine("mine", spec, stand_in_boot, state)
            engine.start(lambda death: print(death, flush=True))
            engine.place([Place(*place)])
            time.sleep(600)
            """
        )
        options = {**machines.options(["m0"]), "connect_timeout_s": 20}
        details = [options, str(tmp_path / "home"), str(tmp_path / "state"), [place.run_id, 1, 0, place.root, "mine"]]
        keeper = subprocess.Popen([sys.executable, "-c", program, json.dumps(details)])
        try:
            agent = make.up(place)
        finally:
            keeper.kill()
            keeper.wait()
        engine, deaths = make()
        assert engine.adopt([place]) == {place}
        assert is_running(agent["pid"], agent["start_ticks"])
        engine.kill(place)
        assert wait_for(lambda: deaths.of(place), "the death")[0].signal == "SIGKILL"

    def test_takes_agents_to_be_alive_while_their_machine_does_not_answer(self, make, machines):
        engine, _ = make()
        place = make.place()
        engine.place([place])
        agent = make.up(place)
        engine.stop()
        machines.end_sshd("m0")
        try:
            os.kill(agent["pid"], signal.SIGKILL)
            again, deaths = make()
            assert again.adopt([place]) == {place}
            assert not deaths.seen
        finally:
            machines.serve("m0")
        assert wait_for(lambda: deaths.of(place), "the death")[0].signal == "SIGKILL"

    def test_places_a_finisher_where_the_agent_was(self, make):
        engine, deaths = make()
        place = make.place(exit=3)
        engine.place([place])
        assert wait_for(lambda: deaths.of(place), "the death")[0].exit_code == 3
        (Path(place.root) / "up.json").unlink()
        engine.place([place])
        make.up(place)
        assert wait_for(lambda: deaths.of(place)[1:], "the second death")[0].exit_code == 3


class TestRefusals:
    def test_a_wrong_key(self, make, machines):
        engine, deaths = make(private_key_file=machines.make_key("stranger"))
        reason = told(engine, deaths, make)
        assert "does not let us in (publickey)" in reason
        assert "ssh-copy-id" in reason

    def test_a_key_that_is_not_there(self, make):
        with pytest.raises(ComputeError, match=r"private_key_file=.*is not there"):
            make(private_key_file="/nowhere/key")

    def test_a_name_that_nobody_knows(self, make):
        engine, deaths = make(addresses=["no-such-machine.invalid"])
        assert "The name no-such-machine.invalid is not known here" in told(engine, deaths, make)

    def test_an_unknown_host_key_where_it_must_be_known(self, make):
        engine, deaths = make(host_key_check="strict")
        reason = told(engine, deaths, make)
        assert "host_key_check=strict" in reason
        assert "ssh-keyscan -p 2222" in reason

    def test_a_host_key_that_has_changed(self, make, machines):
        engine, _ = make()
        assert engine.run_on_node("print(1)", 60).output == "1\n"
        engine.stop()
        old = Path(machines.folder / "m0_key").read_bytes()
        machines.end_sshd("m0")
        machines.make_key("m0")
        machines.serve("m0")
        try:
            again, deaths = make()
            reason = told(again, deaths, make)
        finally:
            machines.end_sshd("m0")
            Path(machines.folder / "m0_key").write_bytes(old)
            machines.serve("m0")
        assert "is not the one that it had" in reason
        assert "ssh-keygen -R" in reason

    def test_no_python_by_that_name(self, make):
        engine, deaths = make(python="python3.99")
        assert "has no Python by the name python3.99" in told(engine, deaths, make)

    def test_a_python_that_is_too_old(self, make, tmp_path):
        old = tmp_path / "an old one"
        old.write_text("#!/bin/sh\nread line\necho 'python-too-old 3.6' >&2\nexit 1\n")
        old.chmod(0o755)
        engine, deaths = make(python=str(old))
        assert "is Python 3.6; agents need 3.9 or newer" in told(engine, deaths, make)

    def test_nobody_listens_is_waited_for(self, make, machines):
        machines.end_sshd("m0")
        try:
            engine, deaths = make()
            place = make.place()
            engine.place([place])
            words = wait_for(lambda: "refused" in engine.waiting(place) and engine.waiting(place), "a reason")
            assert "Is sshd running there?" in words
            assert not deaths.seen
        finally:
            machines.serve("m0")
        make.up(place)

    def test_none_of_a_gang_runs_when_one_machine_refuses(self, make, machines, tmp_path):
        good = f"{machines.network['m0'].address}:2222"
        engine, deaths = make(addresses=[good, "no-such-machine.invalid"])
        gang = [make.place(node=0), make.place(node=1)]
        engine.place(gang)
        wait_for(lambda: all(deaths.of(p) for p in gang), "both deaths")
        assert all("no-such-machine.invalid" in d.reason for d in deaths.seen)
        assert read(gang[0]) is None


def test_one_machine_may_have_several_slots(machines, tmp_path):
    options = machines.options(["m0"], slots=2)
    spec = ClusterSpec(engine="ssh", max_nodes=2, options=options, reach=Reach(node_home=str(tmp_path / "home")))
    engine = SshEngine("mine", spec, stand_in_boot, str(tmp_path / "state"))
    places = []
    for node in range(2):
        root = tmp_path / f"node-{node}"
        root.mkdir()
        (root / "job.json").write_text(json.dumps({"key": "r/1", "node": node}))
        places.append(Place("r", 1, node, str(root), "mine"))
    deaths = Deaths()
    engine.start(deaths)
    try:
        engine.place(places)
        told = [wait_for(lambda p=p: read(p), "an agent")["env"] for p in places]
        assert {v["ROOKERY_NODE_CPUS"] for v in told} == {str(max(1, len(os.sched_getaffinity(0)) // 2))}
        assert {v["ROOKERY_NODE_ADDRESS"] for v in told} == {machines.network["m0"].address}
    finally:
        for place in places:
            engine.kill(place)
        wait_for(lambda: len(deaths.seen) == 2, "both deaths")
        engine.stop()
    assert len(deaths.seen) == 2
