"""Machines in network namespaces: their own names and addresses, cut and crashed, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from rookery.engine.processes import is_running
from rookery.testing.engine_exam import wait_for
from rookery.testing.netns import STATE, Network

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

_LISTEN = "import socket; s = socket.create_server(('', 7777)); print('up', flush=True); c = s.accept()[0]; c.sendall(b'hello'); c.recv(1)"


def _dial(address: str, patience_s: float = 60) -> str:
    return f"import socket; s = socket.create_connection(({address!r}, 7777), {patience_s}); print(s.recv(9).decode())"


def test_nodes_have_names_and_addresses_and_reach_each_other_and_us():
    with Network(["n0", "n1"]) as network:
        assert network["n0"].run(["hostname"]).stdout == "n0\n"
        assert os.uname().nodename != "n0"
        found = network["n1"].run(["getent", "hosts", "n0"]).stdout.split()
        assert found == [network["n0"].address, "n0"]
        server = network["n1"].popen([sys.executable, "-c", _LISTEN], stdout=subprocess.PIPE, text=True)
        with server, server.stdout:
            assert server.stdout.readline() == "up\n"
            assert server.pid in network["n1"].pids()
            answer = network["n0"].run([sys.executable, "-c", _dial("n1")])
            assert answer.stdout == "hello\n", answer.stderr
        here = subprocess.Popen([sys.executable, "-c", _LISTEN], stdout=subprocess.PIPE, text=True)
        with here, here.stdout:
            assert here.stdout.readline() == "up\n"
            assert network["n0"].run([sys.executable, "-c", _dial("keeper")]).stdout == "hello\n"


def test_a_cable_is_cut_and_restored_and_a_crashed_node_comes_back_empty():
    with Network(["n0", "n1"]) as network:
        node, other = network["n1"], network["n0"]
        node.cut()
        assert other.run([sys.executable, "-c", _dial("n1", 1.5)]).returncode != 0
        node.restore()
        command = [sys.executable, "-c", _dial("n1")]
        server = node.popen([sys.executable, "-c", _LISTEN], stdout=subprocess.PIPE, text=True)
        with server, server.stdout:
            server.stdout.readline()
            assert other.run(command).stdout == "hello\n"
        sleeper = node.popen(["sh", "-c", "setsid sleep 600 & sleep 600"])
        wait_for(lambda: len(node.pids()) >= 3, "the sleepers")
        node.crash()
        assert sleeper.wait(60) == -9
        assert not node.is_up
        with pytest.raises(RuntimeError, match="Node n1 is down"):
            node.run(["true"])
        node.boot()
        assert node.pids() == []
        assert node.run(["hostname"]).stdout == "n1\n"


def test_private_folders_and_own_process_numbers(tmp_path):
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "ours").write_text("here")
    with Network(["n0", "n1"], private=[str(folder)], own_pids=True) as network:
        assert network["n0"].run(["ls", str(folder)]).stdout == ""
        network["n0"].run(["sh", "-c", f"echo mine >{folder}/file"])
        assert network["n1"].run(["ls", str(folder)]).stdout == ""
        with open(os.path.join(network["n0"].disk(str(folder)), "file")) as f:
            assert f.read() == "mine\n"
        assert int(network["n0"].run(["sh", "-c", "echo $$"]).stdout) < 50
        sleeper = network["n0"].popen(["sleep", "600"])
        network["n0"].crash()
        sleeper.wait(60)
        network["n0"].boot()
        assert network["n0"].run(["cat", f"{folder}/file"]).stdout == "mine\n"  # a disk survives
    assert [p.name for p in folder.iterdir()] == ["ours"]


def test_two_networks_do_not_see_each_other():
    with Network(["n0"]) as one, Network(["n0"]) as other:
        assert one["n0"].address != other["n0"].address
        dial = f"import socket; socket.create_connection(({other['n0'].address!r}, 7777), 1)"
        assert "unreachable" in one["n0"].run([sys.executable, "-c", dial]).stderr


def test_nothing_is_left_when_the_test_is_killed(tmp_path):
    script = textwrap.dedent(
        """
        import os, signal
        from rookery.testing.netns import Network
        network = Network(["n0"])
        print(network.name, network["n0"].popen(["sleep", "600"]).pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    name, pid = done.stdout.split()
    wait_for(lambda: not is_running(int(pid), 0), "the end of the node's process")
    wait_for(lambda: not os.path.exists(os.path.join(STATE, name)), "the end of the network")
    assert name not in subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    assert name not in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    assert not [n for n in os.listdir("/etc/netns") if n.startswith(name)]
