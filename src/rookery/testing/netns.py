"""Several machines on one host, for tests: network namespaces with a switch between them.

    with Network(["n0", "n1"]) as network:
        network["n0"].run(["hostname"])          # "n0\\n", in its own network with its own /etc/hosts
        server = network["n1"].popen(["sshd", "-D"])
        network["n1"].cut()                      # the cable is pulled: packets vanish, nobody is told
        network["n1"].restore()
        network["n1"].crash()                    # the power is gone: cable first, then kill -9 of everything
        network["n1"].boot()                     # an empty machine again

This side (the keeper's) has `network.address` on the same switch. Needs root. Nothing is left behind when the test is
killed: a guardian process sees the end of its pipe and clears up; what even that missed goes at the next start.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Optional

from rookery.engine.processes import all_pids, command_line, is_running, start_ticks
from rookery.testing.debian import ensure_programs

__all__ = ["Network", "Node", "remove_network"]

STATE = "/run/rookery-netns"
_TIMEOUT_S = 90.0
_NO_PID = 2**22 + 1  # above the highest that Linux gives


class Network:
    """A switch and the nodes on it.

    Args:
        names: host names of the nodes; each is a network namespace `<network>-<name>`.
        private: folders that every node has for itself. They lie in `Node.disk(folder)` and survive a crash.
        own_pids: nodes have process numbers of their own too (a pid namespace).
        persistent: outlives this process; `remove_network(name)` takes it away.
        name: at most 8 letters and digits; found by itself when empty.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        private: Sequence[str] = (),
        own_pids: bool = False,
        persistent: bool = False,
        name: str = "",
    ) -> None:
        ensure_programs({"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"})
        self._guardian: Optional[subprocess.Popen[bytes]] = None
        with _locked():
            _remove_orphans()
            number = _free_number()
            self.name = name or f"rk{number:04x}"
            self.prefix = f"10.{64 + number // 256}.{number % 256}"
            self.address = f"{self.prefix}.1"
            self.own_pids, self.private = own_pids, tuple(private)
            self.folder = os.path.join(STATE, self.name)
            if os.path.exists(self.folder):
                raise RuntimeError(f"The network '{self.name}' is there already. Remove it: remove_network({name!r}).")
            os.makedirs(self.folder, mode=0o700)
            owner = {"number": number, "persistent": persistent, "pid": os.getpid(), "names": list(names)}
            _write(os.path.join(self.folder, "network.json"), {**owner, "start_ticks": start_ticks(os.getpid())})
        self.nodes = {name: Node(self, i, name) for i, name in enumerate(names)}
        try:
            if not persistent:
                self._guardian = _start_guardian(self.name)
            self._build()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    @property
    def bridge(self) -> str:
        return f"{self.name}-sw"

    def close(self) -> None:
        """Kill everything on all nodes and remove them. Harmless when it is done already."""
        for node in self:
            node.forget()
        remove_network(self.name)
        if self._guardian is not None and self._guardian.stdin is not None:
            with contextlib.suppress(OSError):
                self._guardian.stdin.close()
            self._guardian.wait(_TIMEOUT_S)
            self._guardian = None

    def _build(self) -> None:
        lines = [
            f"link add {self.bridge} type bridge",
            f"addr add {self.address}/24 dev {self.bridge}",
            f"link set {self.bridge} up",
        ]
        for node in self:
            lines += [
                f"netns add {node.namespace}",
                f"link add {node.cable} type veth peer name eth0 netns {node.namespace}",
                f"link set {node.cable} master {self.bridge} up",
            ]
        _ip_batch(lines)
        for node in self:
            _ip_batch(
                [f"addr add {node.address}/24 dev eth0", "link set eth0 up", "link set lo up"], netns=node.namespace
            )
            self._write_etc(node)
        for node in self:
            node.boot()

    def _write_etc(self, node: Node) -> None:
        folder = os.path.join("/etc/netns", node.namespace)
        os.makedirs(folder, exist_ok=True)
        lines = ["127.0.0.1 localhost", f"{self.address} keeper {os.uname().nodename}"]
        lines += [f"{other.address} {other.name}" for other in self]
        texts = {"hosts": "\n".join(lines) + "\n", "nsswitch.conf": _nsswitch(), "resolv.conf": ""}
        for name, text in texts.items():
            if not os.path.exists(os.path.join("/etc", name)):
                continue  # `ip netns exec` can only lay a file over one that is there
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)


class Node:
    """One machine. `namespace` is its name for `ip netns exec`, but only `command` enters it wholly (host name, private
    folders, process numbers)."""

    def __init__(self, network: Network, index: int, name: str) -> None:
        self.name = name
        self.address = f"{network.prefix}.{index + 11}"
        self.namespace = f"{network.name}-{name}"
        self.cable = f"{network.name}-{index}"
        self._network = network
        self._holder: Optional[subprocess.Popen[Any]] = None

    @property
    def is_up(self) -> bool:
        return self._holder is not None and self._holder.poll() is None

    def disk(self, folder: str) -> str:
        """Where a private folder of this node lies, seen from this side."""
        index = self._network.private.index(folder)
        return os.path.join(self._network.folder, "disks", self.name, str(index))

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` on this node (as a child of whoever starts it)."""
        if not self.is_up:
            raise RuntimeError(f"Node {self.name} is down.")
        enter = ["nsenter", "-t", str(self._init()), "-n", "-m", "-u", "-i"]
        return [*enter, *(["-p"] if self._network.own_pids else []), "--", *argv]

    def popen(self, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a process on this node."""
        options.setdefault("start_new_session", True)
        return subprocess.Popen(self.command(argv), **options)

    def run(
        self, argv: Sequence[str], timeout_s: float = _TIMEOUT_S, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command on this node to its end; stdout and stderr as text."""
        options = {"text": True, "capture_output": True, "check": False, "timeout": timeout_s, **options}
        return subprocess.run(self.command(argv), **options)

    def pids(self) -> list[int]:
        """The processes of this node (numbers of this side), without the one that holds it open."""
        held = {self._holder.pid, self._init()} if self._holder else set()
        for pid in tuple(held):
            # Its sleep is a copy of the shell until it has become one.
            words = (("sleep", "infinity"), command_line(pid), ())
            held |= {child for child in _children(pid)[:1] if command_line(child) in words}
        return [pid for pid in _pids_of(self.namespace) if pid not in held]

    def pid_here(self, number: int) -> int:
        """The number on this side of a process that has `number` on this node; one that no process has when it is gone."""
        if not self._network.own_pids:
            return number
        return next((pid for pid in self.pids() if _inner_number(pid) == number), _NO_PID)

    def cut(self) -> None:
        """Pull the cable: packets in both directions vanish, and no connection is told."""
        _ip("link", "set", self.cable, "nomaster")

    def restore(self) -> None:
        _ip("link", "set", self.cable, "master", self._network.bridge)

    def kill_processes(self) -> None:
        """kill -9 of everything on this node; the node itself stays, empty."""
        _kill_all(self.pids)

    def crash(self) -> None:
        """The power is gone: no process says good-bye, because the cable is pulled first."""
        self.cut()
        _kill_all(lambda: _pids_of(self.namespace))
        self.forget()

    def boot(self) -> None:
        """Bring a new or crashed node up, with nothing running on it."""
        if self.is_up:
            return
        self.restore()
        script = ["set -e", f"hostname {self.name}"]
        for folder in self._network.private:
            os.makedirs(self.disk(folder), exist_ok=True)
            os.makedirs(folder, exist_ok=True)
            script.append(f"mount --bind '{self.disk(folder)}' '{folder}'")
        script += [
            "echo ready",
            "exec >/dev/null 2>&1",  # nobody who reads what we print waits for this shell
            "sleep infinity & wait",
        ]  # the shell stays: the first process of a machine reaps orphans
        pids = ["-p", "-f", "--kill-child", "--mount-proc"] if self._network.own_pids else []
        command = ["ip", "netns", "exec", self.namespace, "unshare", "-u", "-i", *pids, "sh", "-c", "\n".join(script)]
        with open(os.path.join(self._network.folder, f"{self.name}.err"), "w") as errors:
            self._holder = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                text=True,
            )
        assert self._holder.stdout is not None
        with self._holder.stdout as ready:
            if ready.readline() != "ready\n":
                self._holder.wait(_TIMEOUT_S)
                with open(os.path.join(self._network.folder, f"{self.name}.err")) as f:
                    raise RuntimeError(f"Node {self.name} could not be brought up: {f.read().strip()}")
        _write(os.path.join(self._network.folder, f"{self.name}.pid"), self._init())

    def forget(self) -> None:
        """Reap what holds this node open (used after it was killed)."""
        if self._holder is not None:
            if self._holder.poll() is None:
                os.kill(self._init(), signal.SIGKILL)
            self._holder.wait(_TIMEOUT_S)
            self._holder = None

    def _init(self) -> int:
        """The process whose namespaces are the node's."""
        assert self._holder is not None
        if not self._network.own_pids:
            return self._holder.pid
        return (_children(self._holder.pid) or [self._holder.pid])[0]


def remove_network(name: str, before: Callable[[], None] = lambda: None) -> None:
    """Kill everything on a network's nodes and remove all of it; harmless when there is none. `before` is called when its
    nodes are gone and its folder is not."""
    folder = os.path.join(STATE, name)
    try:
        with open(os.path.join(folder, "network.json")) as f:
            names = json.load(f)["names"]
    except (OSError, ValueError, KeyError):
        names = []
    for index, node in enumerate(names):
        namespace = f"{name}-{node}"
        _kill_all(lambda namespace=namespace: _pids_of(namespace))
        _ip("link", "del", f"{name}-{index}", check=False)
        _ip("netns", "del", namespace, check=False)
        shutil.rmtree(os.path.join("/etc/netns", namespace), ignore_errors=True)
    _ip("link", "del", f"{name}-sw", check=False)
    before()
    shutil.rmtree(folder, ignore_errors=True)


def _pids_of(namespace: str) -> list[int]:
    try:
        inode = os.stat(os.path.join("/run/netns", namespace)).st_ino
    except OSError:
        return []
    found = []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}/ns/net").st_ino == inode and start_ticks(pid) is not None:
                found.append(pid)
    return found


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def _inner_number(pid: int) -> int:
    """Of a process in the innermost pid namespace that it is in."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return next(int(line.split()[-1]) for line in f if line.startswith("NSpid:"))
    except (OSError, StopIteration):
        return _NO_PID


def _kill_all(pids: Any) -> None:
    """In rounds, because what forks while we look is found in the next one."""
    until = time.monotonic() + _TIMEOUT_S
    while found := pids():
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            raise RuntimeError(f"Processes of a node do not die: {found}")
        time.sleep(0.005)


def _start_guardian(name: str) -> subprocess.Popen[bytes]:
    """Clears up when this process is gone: it holds the other end of a pipe that nobody else has."""
    command = [sys.executable, "-m", "rookery.testing.netns", "guard", name]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **quiet)


def _remove_orphans() -> None:
    for name in _networks():
        with contextlib.suppress(OSError, ValueError, KeyError):
            with open(os.path.join(STATE, name, "network.json")) as f:
                owner = json.load(f)
            if not owner["persistent"] and not is_running(owner["pid"], owner["start_ticks"]):
                remove_network(name)


def _free_number() -> int:
    """Which of the 10.x.y.0/24 networks nobody here uses."""
    routes = _ip("-4", "route", "show", "table", "all").stdout
    taken = set()
    for name in _networks():
        with contextlib.suppress(OSError, ValueError, KeyError), open(os.path.join(STATE, name, "network.json")) as f:
            taken.add(json.load(f)["number"])
    for number in range(1, 128 * 256):
        if number not in taken and f" 10.{64 + number // 256}.{number % 256}." not in f" {routes}".replace("\n", " "):
            return number
    raise RuntimeError("No 10.x.y.0/24 network is free.")


def _networks() -> list[str]:
    return sorted(name for name in os.listdir(STATE) if os.path.isdir(os.path.join(STATE, name)))


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    os.makedirs(STATE, mode=0o700, exist_ok=True)
    lock: IO[str]
    with open(os.path.join(STATE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _nsswitch() -> str:
    """This machine's, but names come from files only: a look-up that goes out would wait ten seconds for nobody."""
    with open("/etc/nsswitch.conf") as f:
        lines = [line for line in f.read().splitlines() if not line.startswith("hosts:")]
    return "\n".join([*lines, "hosts: files", ""])


def _ip(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if check and done.returncode:
        raise RuntimeError(f"`ip {' '.join(words)}` failed: {done.stderr.strip()}")
    return done


def _ip_batch(lines: list[str], netns: str = "") -> None:
    options = ["-n", netns] if netns else []
    text = "\n".join(lines) + "\n"
    command = ["ip", *options, "-batch", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode:
        raise RuntimeError(f"`ip` failed (network namespaces need root and CAP_NET_ADMIN): {done.stderr.strip()}")


def _write(path: str, data: Any) -> None:
    with open(path, "w") as f:
        json.dump(data, f)


def _main(words: Sequence[str]) -> None:
    verb, name = words
    if verb == "guard":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        sys.stdin.buffer.read()
    remove_network(name)


if __name__ == "__main__":
    _main(sys.argv[1:])
