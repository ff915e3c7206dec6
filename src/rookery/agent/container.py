"""Ranks in containers: how one is started, how its end is read, and how none is left behind.

The agent's child is the runtime's client (`podman run`, `docker run`). The user's process is somebody else's child, but it
shares the machine's processes, carries ROOKERY_ATTEMPT_KEY and writes into its log by itself, so stopping, sampling
and shipping work as for any rank. A runtime's client that is killed leaves its container running: the guard, a
shell that reads from a pipe of ours, removes it when the pipe closes without a word.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Optional

from rookery.agent.logs import tail
from rookery.agent.proc import all_stats, command_line
from rookery.agent.tree import find_attempt, stop_attempt
from rookery.spec.container import (
    ContainerSpec,
    Mount,
    container_limits,
    container_name,
    remove_command,
    run_command,
)
from rookery.spec.job import Job, RankJob
from rookery.spec.paths import NodePaths, RankPaths

if TYPE_CHECKING:
    from rookery.agent.process import RankEnd, Ranks

__all__ = ["Enclosure"]

SETTLE_S = 5.0  # for a runtime to clear up after a process that has ended
REMOVE_S = 60.0
NOT_STARTED = (125, 126, 127)  # what clients exit with when the container, or the program in it, could not be started
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ERROR = re.compile(r"(?i)(\w+: )?error\b")
_GUARD = 'read -r _ && exit 0; exec "$@" >/dev/null 2>&1'


class Enclosure:
    """The containers of this node's ranks."""

    def __init__(self, spec: ContainerSpec, job: Job, paths: NodePaths, data: Sequence[Mount] = ()) -> None:
        self._spec, self._job, self._paths, self._data = spec, job, paths, data
        self._guard: Optional[subprocess.Popen[bytes]] = None
        self._lifeline: Optional[int] = None

    def command(self, rank: RankJob, argv: list[str]) -> list[str]:
        """What to start instead of `argv`. Values of variables are in a file of ours, not on a command line."""
        paths, job = self._paths.rank(rank.rank), self._job
        _write_private(paths.start, _start_script(self._spec, rank.variables, argv, paths, job.work))
        if os.path.exists(paths.inside):
            os.unlink(paths.inside)
        mounts = [Mount(self._paths.work_parent), Mount(paths.root)]
        mounts += [Mount(job.payload_root, read_only=True)] if job.payload_root else []
        mounts += [Mount(job.socket)] if job.socket else []
        mounts += [Mount(job.data_cache, read_only=True), *self._data] if job.inputs else []
        mounts += [Mount(output.folder) for output in job.data_outputs if output.folder]
        kept = rank.variables.get("ROOKERY_RESUME_DIR")
        mounts += [Mount(kept)] if kept else []
        name = container_name(job.run_id, job.attempt, job.node, rank.rank)
        command = ["/bin/sh", paths.start]
        return run_command(self._spec, command, name, _once(mounts), own_limits(), rank.cpus, job.work)

    def protect(self) -> None:
        """Start the guard; from now on nothing outlives us, however we end."""
        removal = self._removal()
        if not removal:
            return
        end, self._lifeline = os.pipe()
        try:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "rookery-guard", *removal], stdin=end, start_new_session=True, cwd="/"
            )
        finally:
            os.close(end)

    def read_end(self, end: RankEnd) -> RankEnd:
        """How the process inside ended, from how its client did."""
        paths = self._paths.rank(end.rank)
        pid = _read_pid(paths)
        code = end.exit_code
        if not pid and code in NOT_STARTED:
            said = [line.strip() for line in tail(paths.log).splitlines() if line.strip()]
            errors = [line for line in said if _ERROR.match(line)]  # the last line is often where to find help
            why = (errors or said or [f"exit code {code}"])[-1]
            text = f"{self._spec.runtime} could not start a container of image '{self._spec.image_name}': {why}"
            return replace(end, exit_code=None, start_error=text.rstrip("."))
        if code is not None and 128 < code <= 128 + signal.NSIG:
            return replace(end, pid=pid or end.pid, exit_code=None, signal=code - 128)
        return replace(end, pid=pid or end.pid)

    def pids(self) -> list[int]:
        """The ranks' own processes, as far as they have begun: what is sampled."""
        return [pid for pid in (_read_pid(self._paths.rank(rank.rank)) for rank in self._job.ranks) if pid]

    def stop(self, key: str, grace_s: float, ranks: Ranks) -> list[int]:
        """SIGTERM to everything inside, and after `grace_s` the end of it. Returns what would not die."""
        deadline = time.monotonic() + grace_s
        told: set[int] = set()
        pause = 0.005
        while ranks.pids and time.monotonic() < deadline:  # also one that is about to begin: clients live until then
            for pid in find_attempt(key, node=self._job.node):
                if pid not in told:
                    told.add(pid)
                    _tell(pid)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
            ranks.reap()
        left = stop_attempt(key, 0.0 if ranks.pids else min(grace_s, 1.0), reap=ranks.reap, node=self._job.node)
        _settle(ranks)
        if ranks.pids:
            self.remove()
            _settle(ranks)
        for pid in ranks.pids:
            _tell(pid, signal.SIGKILL)
        _settle(ranks)
        return left

    def remove(self) -> None:
        """End and remove the containers, whether they are there or not."""
        self._forget_values()
        removal = self._removal()
        if not removal:
            return
        try:
            subprocess.run(removal, stdin=subprocess.DEVNULL, capture_output=True, timeout=REMOVE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            pass  # whoever finishes this attempt tries again
        _end_monitors(set(self._names()))

    def release(self) -> None:
        """Everything has ended: the guard may go."""
        self._forget_values()
        if self._lifeline is not None:
            os.write(self._lifeline, b"done\n")
            os.close(self._lifeline)
            self._lifeline = None
        if self._guard is not None:
            self._guard.wait()  # a shell that has been told to exit
            self._guard = None

    def _forget_values(self) -> None:
        """Secret variables are in the start scripts; they are no use any more."""
        for rank in self._job.ranks:
            try:
                os.unlink(self._paths.rank(rank.rank).start)
            except OSError:
                pass

    def _names(self) -> list[str]:
        job = self._job
        return [container_name(job.run_id, job.attempt, job.node, rank.rank) for rank in job.ranks]

    def _removal(self) -> list[str]:
        names = self._names()
        return remove_command(self._spec, names) if names else []


def own_limits() -> dict[str, tuple[int, int]]:
    """What a process of ours may have, and its containers too."""
    nofile, nproc = resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_NPROC)
    return container_limits(nofile, nproc, _pid_max())


def _start_script(
    spec: ContainerSpec, variables: Mapping[str, str], argv: list[str], paths: RankPaths, work: str
) -> str:
    q = shlex.quote
    lines = ["#!/bin/sh", f"echo $$ > {q(paths.inside)}"]
    for name, value in variables.items():
        if not _NAME.match(name) or name in ("PATH", "PYTHONPATH"):
            continue
        lines.append(f"export {name}={q(value)}")
    # The image's own paths stay, behind ours.
    if "PATH" in variables:
        lines.append(f"PATH={q(variables['PATH'])}")
    if spec.bin_dir:
        lines.append(f'PATH={q(spec.bin_dir)}:"$PATH"')
    lines.append("export PATH")
    if "PYTHONPATH" in variables:
        lines.append(f'export PYTHONPATH={q(variables["PYTHONPATH"])}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    # A user id that the image does not know has no home to write to, and no name.
    lines.append(f'[ -w "${{HOME:-/}}" ] || export HOME={q(os.path.dirname(work))}')
    lines.append('export USER="${USER:-rookery}" LOGNAME="${LOGNAME:-rookery}"')
    lines.append(f"cd {q(work)} || exit 125")
    lines.append(f"exec {' '.join(map(q, argv))} >> {q(paths.log)} 2>&1 < /dev/null")
    return "\n".join(lines) + "\n"


def _once(mounts: Sequence[Mount]) -> list[Mount]:
    """Each place once; where it is asked for both ways, it may be written to."""
    found: dict[str, Mount] = {}
    for mount in mounts:
        place = mount.target or mount.source
        if place not in found or found[place].read_only:
            found[place] = mount
    return list(found.values())


def _write_private(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", opener=_private_opener) as f:
        f.write(text)


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read_pid(paths: RankPaths) -> int:
    try:
        with open(paths.inside, encoding="ascii") as f:
            return int(f.read())
    except (OSError, ValueError):
        return 0


def _settle(ranks: Ranks) -> None:
    """Give the runtime a moment to clear up."""
    deadline = time.monotonic() + SETTLE_S
    ranks.reap()
    while ranks.pids and time.monotonic() < deadline:
        time.sleep(0.02)
        ranks.reap()


def _end_monitors(names: set[str]) -> None:
    """End podman's monitors of containers that are gone. One whose client was killed between making and starting its container
    waits for ever, with a process that never becomes the user's."""
    for pid, stat in all_stats().items():
        words = command_line(pid)
        if words and os.path.basename(words[0]) == "conmon" and names & set(words):
            for child in [other.pid for other in all_stats().values() if other.parent == stat.pid]:
                if command_line(child)[-1:] == ["init"]:
                    _tell(child, signal.SIGKILL)
            _tell(pid, signal.SIGKILL)


def _tell(pid: int, number: int = signal.SIGTERM) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _pid_max() -> int:
    try:
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
            return int(f.read())
    except (OSError, ValueError):
        return 32768
