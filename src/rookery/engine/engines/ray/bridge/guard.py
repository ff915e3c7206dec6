"""Runs on a node between Ray's actor and the agent: starts the agent, tells how it ended, and lets nothing outlive it.

It is sent as text and run by `start` below with the worker's own Python. Why it is a process of its own: a Ray worker kills its
direct children when it leaves, with no time to look at what those have started; the guard has left that family (a
second fork), is the subreaper of everything below the agent, and sees the worker's death as the end of a pipe.
Standard library only, Python 3.9+.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from typing import Any, Optional

TAIL_BYTES = 4096
# Reads its own text and what it is to do from standard input, so neither is in a command line.
START = (
    "import json,os\n"
    "def take(n):\n"
    "    d=b''\n"
    "    while len(d)<n:\n"
    "        c=os.read(0,n-len(d))\n"
    "        if not c: os._exit(1)\n"
    "        d+=c\n"
    "    return d\n"
    "given=json.loads(take(int(take(12))))\n"
    "space={'__name__':'rookery_guard'}\n"
    "exec(compile(given.pop('guard'),'<rookery guard>','exec'),space)\n"
    "space['main'](given)\n"
)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SWEEP_ROUNDS = 5


def main(given: dict[str, Any]) -> None:
    """`given`: python, program, variables, key (ROOKERY_ATTEMPT_KEY of its ranks), node. Afterwards a line "kill" on standard
    input kills the agent, and so does its end. Two JSON lines go out: {"pid": …} or {"error": …}, then {"ended": …}."""
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        agent = _start_agent(given)
    except Exception as error:
        _say({"error": str(error)})
        os._exit(1)
    _say({"pid": agent.pid})
    tail, status = _follow(agent, wake_read)
    _sweep(given)
    code = os.waitstatus_to_exitcode(status)
    ended: dict[str, Any] = {"exit_code": code if code >= 0 else None, "signal": None}
    if code < 0:
        try:
            ended["signal"] = signal.Signals(-code).name
        except ValueError:
            ended["signal"] = f"signal {-code}"
    ended["tail"] = tail.decode("utf-8", "replace").strip() if code else ""
    _say({"ended": ended})
    os._exit(0)


def _start_agent(given: dict[str, Any]) -> subprocess.Popen[bytes]:
    variables = given["variables"]
    python = shutil.which(given["python"], path=variables.get("PATH"))
    if python is None:
        raise RuntimeError(
            f"'{given['python']}' is not on the PATH of this node ({variables.get('PATH', '')}). Name a Python 3.9 or "
            "newer that is there in the target's reach.python"
        )
    text = os.memfd_create("rookery-boot")  # holds secrets: never on a disk
    data = memoryview(given["program"].encode())
    while data:
        data = data[os.write(text, data) :]
    os.lseek(text, 0, os.SEEK_SET)
    home = variables.get("HOME", "/")
    try:
        return subprocess.Popen(
            [python, "-I", "-"],
            stdin=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=home if os.path.isdir(home) else "/",
            start_new_session=True,
            preexec_fn=_die_with_parent,  # one thread here, so this is safe
        )
    finally:
        os.close(text)


def _follow(agent: subprocess.Popen[bytes], wake: int) -> tuple[bytes, int]:
    """Until the agent has ended: the last of what it printed, and its wait status."""
    assert agent.stdout is not None
    output = agent.stdout.fileno()
    tail, status = b"", None
    watched = [0, output, wake]
    while status is None:
        ready, _, _ = select.select(watched, [], [])
        if output in ready:
            data = os.read(output, 65536)
            tail = (tail + data)[-TAIL_BYTES:]
            if not data:
                watched.remove(output)
        if 0 in ready:
            data = os.read(0, 4096)
            _kill(agent.pid)  # asked for, or the actor is gone
            if not data:
                watched.remove(0)
        if wake in ready:
            os.read(wake, 4096)
            status = _reap(agent.pid)
    while select.select([output], [], [], 0)[0]:
        data = os.read(output, 65536)
        if not data:
            break
        tail = (tail + data)[-TAIL_BYTES:]
    return tail, status


def _reap(agent: int) -> Optional[int]:
    """Bury whoever has ended; the agent's status if it was among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == agent:
            found = status


def _sweep(given: dict[str, Any]) -> None:
    """Kill what the agent has left: what was born below it, and what carries its mark."""
    for _round in range(_SWEEP_ROUNDS):  # what forks while we look is found in the next round
        found = _children() | _marked(given)
        if not found:
            return
        for pid in found:
            _kill(pid)
        _reap(0)


def _children() -> set[int]:
    """Orphans of the agent are ours, because we are their subreaper."""
    me, found = os.getpid(), set()
    for pid in _all_pids():
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == me and fields[0] not in "ZX":
            found.add(pid)
    return found


def _marked(given: dict[str, Any]) -> set[int]:
    key, node = f"ROOKERY_ATTEMPT_KEY={given['key']}".encode(), f"ROOKERY_NODE={given['node']}".encode()
    found = set()
    for pid in _all_pids():
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                variables = f.read().split(b"\0")
        except OSError:
            continue
        if key in variables and node in variables and not _is_zombie(pid):
            found.add(pid)
    return found


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _say(data: dict[str, Any]) -> None:
    try:
        sys.stdout.write(json.dumps(data) + "\n")
        sys.stdout.flush()
    except OSError:
        pass  # the actor is gone: nobody asks any more
