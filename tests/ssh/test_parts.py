"""The parts of the SSH engine that need no machine: words, slots, what is remembered, the command."""

from __future__ import annotations

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.ssh.machines import make_machines
from rookery.engine.engines.ssh.placements import ENDED, STARTED, Placement, Placements
from rookery.engine.engines.ssh.room import Room
from rookery.engine.engines.ssh.words import explain
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.spec.engine_options import SshOptions, read_options


def say(text, code=255):
    return explain(text, "gpu1", "gpu1", 22, "/known hosts", "python3", code)


class TestWords:
    @pytest.mark.parametrize(
        ("said", "words", "is_final"),
        [
            ("me@gpu1: Permission denied (publickey,password).", "does not let us in (publickey,password)", True),
            ("ssh: Could not resolve hostname gpu1: Name or service not known", "The name gpu1 is not known", True),
            ("Host key verification failed.", "host_key_check=strict", True),
            ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", "ssh-keygen -R gpu1 -f /known hosts", True),
            ('Load key "/k": incorrect passphrase supplied\nPermission denied (x).', "ssh-add /k", True),
            ("WARNING: UNPROTECTED PRIVATE KEY FILE!", "chmod 600", True),
            ("ssh: connect to host gpu1 port 22: Connection refused", "Is sshd running", False),
            ("ssh: connect to host gpu1 port 22: Connection timed out", "timed out", False),
            ("kex_exchange_identification: something new", "something new", False),
            ("", "exit code 255", False),
        ],
    )
    def test_of_ssh(self, said, words, is_final):
        found = say(said)
        assert words in found.words
        assert found.is_final == is_final

    def test_of_a_shell_without_python(self):
        assert "has no Python by the name python3" in say("bash: python3: command not found", 127).words


def places(count, on=""):
    return [Place("r", 1, i, f"/n{i}", "pool", on) for i in range(count)]


def placed(machine, slot=0, node=0):
    return Placement(f"k{machine}{slot}", "other", 1, node, machine, slot, STARTED)


class TestRoom:
    FACTS = {"cpus": 8, "gpus": 4, "address": "10.0.0.1"}

    def test_spreads_a_gang_and_then_fills_slots(self):
        room = Room(ClusterSpec(), 2, ["a", "b"])
        assert [(m, s) for _, m, s in room.choose(places(4), {}, [])] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
        with pytest.raises(ComputeError, match="at most 4 fit"):
            room.choose(places(5), {}, [])

    def test_takes_the_emptiest_that_answers(self):
        room = Room(ClusterSpec(), 1, ["a", "b", "c"])
        chosen = room.choose(places(1), {}, [placed("a")], away=["b"])
        assert chosen[0][1] == "c"
        assert room.choose(places(1), {}, [placed("a"), placed("c")], away=["b"])[0][1] == "b"

    def test_goes_where_it_was_or_must(self):
        room = Room(ClusterSpec(), 1, ["a", "b"])
        (one,) = places(1)
        assert room.choose([one], {one: "b"}, [placed("b")])[0][1] == "b"
        assert room.choose(places(1, on="b"), {}, [])[0][1] == "b"
        with pytest.raises(ComputeError, match="is no machine of this target"):
            room.choose(places(1, on="z"), {}, [])

    def test_divides_a_machine(self):
        room = Room(ClusterSpec(), 2, ["a"])
        told = room.variables(placed("a", slot=1, node=3), self.FACTS)
        assert told["CUDA_VISIBLE_DEVICES"] == "2,3"
        assert (told["ROOKERY_NODE"], told["ROOKERY_NODE_CPUS"]) == ("3", "4")
        whole = Room(ClusterSpec(), 1, ["a"]).variables(placed("a"), self.FACTS)
        assert "CUDA_VISIBLE_DEVICES" not in whole
        none = Room(ClusterSpec(gpus_per_node=0), 1, ["a"]).variables(placed("a"), self.FACTS)
        assert none["CUDA_VISIBLE_DEVICES"] == ""

    def test_loopback_is_no_address_among_several_machines(self):
        facts = {**self.FACTS, "address": "127.0.0.1"}
        assert "ROOKERY_NODE_ADDRESS" not in Room(ClusterSpec(), 1, ["a", "b"]).variables(placed("a"), facts)
        assert Room(ClusterSpec(), 1, ["a"]).variables(placed("a"), facts)["ROOKERY_NODE_ADDRESS"] == "127.0.0.1"


class TestPlacements:
    def test_are_there_after_a_restart(self, tmp_path):
        first = Placements(str(tmp_path))
        (place,) = places(1)
        (one,) = first.ask([(place, "a", 0)])
        first.change(one.key, phase=STARTED)
        again = Placements(str(tmp_path))
        assert again.get(place).key == one.key
        assert again.live("a")
        assert not again.live("b")
        assert again.condemn(one.key).phase == ENDED
        assert again.change(one.key, phase=STARTED) is None
        assert [p.key for p in Placements(str(tmp_path)).condemned("a")] == [one.key]
        again.pardon(one.key)
        assert not Placements(str(tmp_path)).condemned("a")

    def test_forget_what_ended_long_ago(self, tmp_path, monkeypatch):
        monkeypatch.setattr("rookery.engine.engines.ssh.placements.KEPT", 2)
        kept = Placements(str(tmp_path))
        for i in range(5):
            (one,) = kept.ask([(Place(f"r{i}", 1, 0, "/n", "pool"), "a", 0)])
            kept.change(one.key, phase=ENDED)
        assert kept.get(Place("r0", 1, 0, "/n")) is None
        assert kept.get(Place("r4", 1, 0, "/n")) is not None


class TestMachines:
    def make(self, tmp_path, **options):
        return make_machines(read_options("ssh", options), Reach(), str(tmp_path))

    def test_addresses(self, tmp_path):
        found = self.make(tmp_path, addresses=["a", "b:2222", "[::1]:23", "fe80::1"], ssh_port=24)
        assert [(m.host, m.port) for m in found] == [("a", 24), ("b", 2222), ("::1", 23), ("fe80::1", 24)]

    def test_nothing_of_a_person_is_asked_for(self, tmp_path):
        (machine,) = self.make(tmp_path, address="a", username="me", extra=["-oProxyJump=gate"])
        assert "BatchMode=yes" in machine.command
        assert "StrictHostKeyChecking=accept-new" in machine.command
        assert machine.command[-2:] == ("--", "a")
        assert machine.command[-3] == "-oProxyJump=gate"
        assert machine.variables == ()

    def test_options_are_checked(self):
        for options, said in (
            ({}, "address=gpu1.example.org"),
            ({"address": "a", "addresses": ["b"]}, "not both"),
            ({"addresses": ["b", "b"]}, "twice"),
            ({"address": "a", "slots": 0}, "slots=0"),
            ({"address": "-oProxyCommand=x"}, "no machine's name"),
            ({"address": "a", "password": "x"}, "ssh-copy-id"),
        ):
            with pytest.raises(ComputeError, match=said):
                read_options("ssh", options)
        assert read_options("ssh", {"address": "a"}) == SshOptions(address="a")
