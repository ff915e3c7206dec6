"""MPI runs: the agent of node 0 starts mpirun, and every agent starts mpirun's daemon on its own node when mpirun asks for it.

No ssh: what mpirun calls in its place (launch_rsh.py) asks the agents. The ranks are the daemons' children; the wrapper in front
of each (launch_wrapper.py) tells the agent of its node, through a pipe, who it is and how it ended.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import select
import shutil
import socket
import sys
import time
from typing import TYPE_CHECKING, Any, Optional

from rookery.agent.launch import with_meeting
from rookery.agent.launch_meeting import LaunchError, Meeting, is_stopped, meet
from rookery.agent.launch_mpirun import find_mpirun, mpirun_command, node_host, rsh_command
from rookery.agent.launch_ports import own_address
from rookery.agent.launch_ranks import ForeignRanks
from rookery.agent.logs import tail
from rookery.agent.process import DROPPED, Ranks

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["launch_mpi"]

ASKED_S = 60.0  # how long mpirun may take to ask for a daemon once all nodes have met
HERE = os.path.dirname(os.path.abspath(__file__))
# What would make mpirun take itself for a part of another launch: inside an allocation of Slurm it starts its daemons by srun.
_OF_OTHER_LAUNCHERS = ("OMPI_COMM", "PMIX_", "PMI_", "ORTE_", "SLURM_", "PBS_", "LSB_")


def launch_mpi(agent: Agent, ranks: Ranks) -> None:
    """Start this node's part of an MPI run.

    Raises:
        LaunchError: Open MPI is missing, a node cannot be reached, or mpirun does not start.
    """
    job, launch = agent.job, agent.job.launch
    assert launch is not None
    if job.container is not None:
        raise LaunchError(
            "MPI runs in containers are not available: mpirun and its daemons run on the nodes themselves. "
            "Use an environment without a docker image (environment.docker.enabled = False), or PyTorchConfiguration."
        )
    several = launch.node_count > 1
    own_path = job.ranks[0].variables.get("PATH", "")
    mpirun = find_mpirun(own_path, several and launch.one_machine) if job.node == 0 else None
    listener = _listen(agent) if several else None
    try:
        host = node_host(job.node, launch.one_machine, own_address(job))
        meeting = meet(agent, {"address": own_address(job), "host": host, "channel": _channel(agent, listener)})
        if meeting is None:
            return
        if meeting.claim is not None:
            agent.claims.append(meeting.claim)
        ranks.foreign = _prepare(agent, meeting)
        ranks.last_words = lambda: _last_line(agent)
        agent.wake.also = [ranks.foreign.fd]
        if mpirun is not None:
            hosts = [str(node["host"]) for node in meeting.nodes]
            rsh = rsh_command(os.path.join(HERE, "launch_rsh.py"), _temporary(agent)) if several else None
            command = mpirun_command(mpirun, hosts, launch.processes_per_node, launch.one_machine, rsh)
            agent.say("mpirun: " + " ".join(command))
            _start(agent, ranks, "mpirun", command)
        if listener is not None:
            _serve_mpirun(agent, ranks, listener)
    finally:
        if listener is not None:
            listener.close()
            with contextlib.suppress(OSError):
                os.unlink(launch.channel)
    assert ranks.foreign is not None
    agent.roots = list(ranks.foreign.launchers)
    agent.roots_now = lambda: list(ranks.foreign.launchers) if ranks.foreign else []
    agent.before_end = lambda: agent.warn(ranks.foreign.warning) if ranks.foreign and ranks.foreign.warning else None


def _prepare(agent: Agent, meeting: Meeting) -> ForeignRanks:
    """What the wrapper reads, and the pipe it writes to."""
    job, paths = agent.job, agent.paths
    launch = job.launch
    assert launch is not None
    outer = {k: v for k, v in os.environ.items() if k not in DROPPED}
    wanted: dict[str, Any] = {}
    for plain in job.ranks:
        rank, files = with_meeting(agent, plain, meeting), paths.rank(plain.rank)
        for folder in (files.root, files.journal, files.uploads, files.errors):
            os.makedirs(folder, exist_ok=True)
        with open(files.log, "ab"):
            pass
        agent.watcher.add(files.log)
        wanted[str(rank.rank)] = {
            "argv": list(rank.argv),
            "shell": rank.shell,
            "variables": {"PYTHONUNBUFFERED": "1", **outer, **rank.variables},
            "cpus": list(rank.cpus),
            "log": files.log,
            "process": files.process,
            "work": job.work,
        }
    shared = _shared_memory(agent) if launch.one_machine and launch.node_count > 1 else ""
    _write_private(paths.mpi, {"ranks": wanted, "ends": paths.mpi_ends, "shared_memory": shared})
    channels = {str(node["host"]): str(node["channel"]) for node in meeting.nodes}
    if job.node == 0:
        _write_private(paths.mpi_hosts, {"channels": channels, "secret": launch.secret})
    folder = _temporary(agent)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if folder != paths.root:
        agent.at_end.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    return ForeignRanks(paths.mpi_ends, [rank.rank for rank in job.ranks])


def _start(agent: Agent, ranks: Ranks, name: str, command: list[str], *, output: int = -1, keep: int = -1) -> None:
    """mpirun or its daemon, as a child of ours. `output`: where it writes; `keep`: a descriptor that lives as long as it."""
    log = os.open(agent.paths.mpi_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if output < 0 else output
    try:
        ranks.start_launcher(name, command, _launcher_variables(agent, name), agent.job.work, log, keep)
    except OSError as error:
        raise LaunchError(f"{name} cannot be started: {error}.") from error
    finally:
        os.close(log)


def _last_line(agent: Agent) -> str:
    """What mpirun said last; its rulers and hints left out."""
    lines = [line.strip() for line in tail(agent.paths.mpi_log).splitlines()]
    return next((line for line in reversed(lines) if line.strip("-=*")), "")


def _launcher_variables(agent: Agent, name: str) -> dict[str, str]:
    job = agent.job
    # Daemons of one machine, mpirun itself among them, crash when they share a session folder; socket paths are short.
    session = os.path.join(_temporary(agent), "m" if name == "mpirun" else "d")
    os.makedirs(session, mode=0o700, exist_ok=True)
    first = job.ranks[0].variables
    found = {k: v for k, v in os.environ.items() if k not in DROPPED and not k.startswith(_OF_OTHER_LAUNCHERS)}
    found.update({k: v for k, v in first.items() if k.startswith(("OMPI_MCA_", "PRTE_MCA_"))})
    found.update({k: first[k] for k in ("ROOKERY_ATTEMPT_KEY", "ROOKERY_NODE", "ROOKERY_RUN_ID") if k in first})
    found.update(
        {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "ROOKERY_MPI_FILE": agent.paths.mpi,
            "ROOKERY_MPI_HOSTS": agent.paths.mpi_hosts,
            "ROOKERY_MPI_PYTHON": sys.executable,
            "ROOKERY_MPI_WRAPPER": os.path.join(HERE, "launch_wrapper.py"),
            "TMPDIR": session,
        }
    )
    return found


# -- the channel between agents ------------------------------------------------------------------------------


def _listen(agent: Agent) -> socket.socket:
    launch = agent.job.launch
    assert launch is not None
    try:
        if launch.one_machine and launch.channel:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(launch.channel)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            before = os.umask(0o177)
            try:
                listener.bind(launch.channel)
            finally:
                os.umask(before)
        else:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.bind((own_address(agent.job), 0))
        listener.listen(4)
    except OSError as error:
        raise LaunchError(f"Node {agent.job.node} cannot listen for mpirun: {error.strerror or error}.") from error
    return listener


def _channel(agent: Agent, listener: Optional[socket.socket]) -> str:
    if listener is None:
        return ""
    if listener.family == socket.AF_UNIX:
        return "unix:" + str(listener.getsockname())
    return "tcp:{}:{}".format(*listener.getsockname()[:2])


def _serve_mpirun(agent: Agent, ranks: Ranks, listener: socket.socket) -> None:
    """Wait for mpirun to ask for this node's daemon, and start it."""
    assert ranks.foreign is not None
    deadline, looked = time.monotonic() + ASKED_S, time.monotonic()
    while time.monotonic() < deadline:
        ready, _, _ = select.select([listener], [], [], 0.2)
        ranks.reap()
        if ready:
            line = listener.accept()[0]
            with line:
                if _answer(agent, ranks, line):
                    return
        if agent.job.node == 0 and not ranks.foreign.launchers:
            return  # mpirun has ended: its last words say why, and reap has made them a rank's end
        if time.monotonic() - looked >= 1.0:
            looked = time.monotonic()
            if is_stopped(agent):
                return
    raise LaunchError(
        f"mpirun did not ask for node {agent.job.node} within {ASKED_S:.0f} s; its words are in 70_mpi_log.txt."
    )


def _answer(agent: Agent, ranks: Ranks, line: socket.socket) -> bool:
    """Whether a request was one of mpirun's, and is done."""
    launch = agent.job.launch
    assert launch is not None
    line.settimeout(5.0)
    text = b""
    fds: list[int] = []
    try:
        if line.family == socket.AF_UNIX:
            text, fds, _flags, _address = socket.recv_fds(line, 1, 2)
        while b"\n" not in text and len(text) < 1 << 20:
            piece = line.recv(65536)
            if not piece:
                break
            text += piece
        said = json.loads(text.decode("utf-8"))
        command, proof = str(said["command"]), str(said["proof"])
        wanted = hmac.new(launch.secret.encode(), ("start " + command).encode(), "sha256").hexdigest()
        if not hmac.compare_digest(proof, wanted):
            return False
        output = fds.pop() if fds else -1
        line.settimeout(None)
        _start(agent, ranks, "mpirun's daemon", ["/bin/sh", "-c", command], output=output, keep=line.fileno())
        line.sendall(b"+")
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    finally:
        for fd in fds:
            os.close(fd)


# -- folders -------------------------------------------------------------------------------------------------


def _temporary(agent: Agent) -> str:
    assert agent.job.launch is not None
    return agent.job.launch.channel.removesuffix(".sock") or agent.paths.root


def _shared_memory(agent: Agent) -> str:
    """A folder of this node's own in /dev/shm; Open MPI names its segments after the host, which here is the same for all."""
    assert agent.job.launch is not None
    name = os.path.basename(agent.job.launch.channel).removesuffix(".sock")
    folder = os.path.join("/dev/shm", f"rookery-{os.getuid()}-{name}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return _temporary(agent)
    agent.at_end.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def _write_private(path: str, data: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
        json.dump(data, f)
