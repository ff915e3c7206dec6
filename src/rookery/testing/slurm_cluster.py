"""A real Slurm of a few nodes on this machine, for tests and for trying things out: `python -m rookery.testing.slurm_cluster`.

Every node and the head (slurmctld) is a machine of its own (`rookery.testing.netns`); munge authenticates. Needs root;
what is missing is installed with apt-get.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, Optional

from rookery.engine.processes import command_line
from rookery.testing.debian import ensure_programs
from rookery.testing.lasting import note_cluster
from rookery.testing.netns import STATE, Network, remove_network

__all__ = ["SlurmCluster", "stop_kept"]

HEAD = "head"
_PROGRAMS = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "munged": "munge",
}
_READY_S = 90.0
_KEPT = "rkslurm"  # the name of the one that outlives this process

# Timeouts are small, so that tests of dead nodes are short.
_CONF = """\
ClusterName=rookery
SlurmctldHost={head}({head_address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
ReturnToService=2
SlurmdTimeout={slurmd_timeout_s}
SlurmctldTimeout=10
MessageTimeout=4
TCPTimeout=2
KillWait=2
UnkillableStepTimeout=10
MinJobAge=60
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=5
PartitionName=short Nodes=ALL MaxTime=1 DefaultTime=1 State=UP PriorityTier=5
PartitionName=spare Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=5
PartitionName=closed Nodes=ALL MaxTime=INFINITE State=DOWN
"""


class SlurmCluster:
    """A Slurm with a head and `names` as nodes, ready when the constructor returns.

    Partitions: main (the default), short (one minute), spare (its jobs make room for others), closed (takes jobs, starts none).

    Args:
        cpus: cores that each node says it has (more than there are is fine).
        gpus: GPUs that each node says it has; they are only numbers.
        slurmd_timeout_s: after so long without a word (and some more) a node is down for Slurm.
        private, own_pids: what every node has for itself (see Network).
    """

    def __init__(
        self,
        names: Sequence[str] = ("n0", "n1"),
        *,
        cpus: int = 4,
        gpus: int = 2,
        memory_mb: int = 4000,
        slurmd_timeout_s: int = 10,
        private: Sequence[str] = (),
        own_pids: bool = False,
        persistent: bool = False,
    ) -> None:
        ensure_programs(_PROGRAMS)
        self.names = tuple(names)
        kept: Any = {"persistent": True, "name": _KEPT} if persistent else {}
        self.network = Network([HEAD, *names], private=private, own_pids=own_pids, **kept)
        # A persistent one lies in the network's own folder, so that removing the network removes all.
        self.folder = self.network.folder if persistent else tempfile.mkdtemp(prefix="rookery-slurm-")
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._poke = ""
        self._munge: Optional[subprocess.Popen[bytes]] = None
        try:
            self._write_files(cpus, gpus, memory_mb, slurmd_timeout_s)
            self._start_munge()
            self.start_head("-c")
            for name in names:
                self.start_node(name)
            self.wait_until_idle()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SlurmCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def conf(self) -> str:
        """For SLURM_CONF, or SlurmOptions.conf."""
        return os.path.join(self.folder, "slurm.conf")

    @property
    def keeper_address(self) -> str:
        """This side of the switch: where nodes reach what listens here."""
        return self.network.address

    def run(self, *argv: str, timeout_s: float = 60.0, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command of Slurm from this side (the keeper's)."""
        variables = {**os.environ, "SLURM_CONF": self.conf}
        options = {"check": False, "capture_output": True, "text": True, **options}
        done: subprocess.CompletedProcess[str] = subprocess.run(argv, env=variables, timeout=timeout_s, **options)
        return done

    def states(self) -> dict[str, str]:
        """Slurm's word for each node."""
        done = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %T")
        return dict(line.split() for line in done.stdout.splitlines())

    def wait_until_idle(self, names: Sequence[str] = ()) -> None:
        """Until these nodes (all) are up and free."""
        wanted = names or self.names
        self._wait(lambda: all(self.states().get(name) == "idle" for name in wanted), f"{', '.join(wanted)} idle")

    # -- the head ------------------------------------------------------------------------------------------

    def start_head(self, *options: str) -> None:
        """Start slurmctld; returns when it answers."""
        self._start(HEAD, HEAD, ["slurmctld", "-D", *options])
        self._wait(lambda: bool(self.states()), "the head")
        if self._poke:
            self.run("scancel", f"--name={self._poke}")

    def kill_head(self) -> None:
        """kill -9 of slurmctld. What it knows is on disk by then: it writes every few seconds, and what is younger than that
        would be lost, jobs included."""
        self._poke = f"poke-{secrets.token_hex(4)}"
        self.run("sbatch", "--hold", f"--job-name={self._poke}", "--output=/dev/null", "--wrap", "true")
        self._wait(lambda: self._poke.encode() in self._saved(), "the state of the head on disk")
        self._kill(HEAD)

    def _saved(self) -> bytes:
        try:
            with open(os.path.join(self.folder, "state", "job_state"), "rb") as f:
                return f.read()
        except OSError:
            return b""

    # -- nodes ---------------------------------------------------------------------------------------------

    def start_node(self, name: str) -> None:
        self._start(name, name, ["slurmd", "-D", "-N", name])

    def kill_node(self, name: str) -> None:
        """The machine dies with everything on it."""
        self.network[name].crash()
        self._kill(name)

    def revive_node(self, name: str) -> None:
        """It is booted again; returns when Slurm uses it."""
        self.network[name].boot()
        self.start_node(name)
        self._wait(lambda: self.states().get(name) in ("idle", "mixed", "allocated"), f"{name} back")

    def mend(self) -> None:
        """Bring back what a test has broken: the head, nodes, cables."""
        if HEAD not in self._daemons or self._daemons[HEAD].poll() is not None:
            self.start_head()
        self._wait(lambda: bool(self.states()), "the head")
        for name in self.names:
            self.network[name].restore()
            if not self.network[name].is_up or name not in self._daemons or self._daemons[name].poll() is not None:
                self.network[name].boot()
                self.start_node(name)
            self.run("scontrol", "update", f"nodename={name}", "state=resume")  # where one was drained

    def cancel_everything(self) -> None:
        """Cancel all jobs and wait until they are gone."""
        self.run("scancel", "-u", "root", "--full")
        self._wait(lambda: self.run("squeue", "-h").stdout == "", "an empty queue")

    def close(self) -> None:
        """End everything and remove it."""
        self.network.close()
        for daemon in self._daemons.values():
            daemon.wait(_READY_S)
        if self._munge is not None:
            with contextlib.suppress(ProcessLookupError):
                self._munge.kill()
            self._munge.wait(_READY_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- inside --------------------------------------------------------------------------------------------

    def _write_files(self, cpus: int, gpus: int, memory_mb: int, slurmd_timeout_s: int) -> None:
        os.chmod(self.folder, 0o755)
        gres = f" Gres=gpu:{gpus}" if gpus else ""
        lines = [
            f"NodeName={name} NodeAddr={self.network[name].address} CPUs={cpus} RealMemory={memory_mb}{gres}"
            for name in self.names
        ]
        text = _CONF.format(
            head=HEAD,
            head_address=self.network[HEAD].address,
            folder=self.folder,
            slurmd_timeout_s=slurmd_timeout_s,
            nodes="\n".join(lines),
        )
        self._write("slurm.conf", text)
        self._write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")  # a namespace has /sys mounted anew, without cgroups
        # GPUs that are only numbers: Slurm wants a device for each, and takes any.
        for i in range(gpus):
            os.mknod(os.path.join(self.folder, f"gpu{i}"), stat.S_IFCHR | 0o600, os.makedev(1, 3))
        self._write("gres.conf", f"Name=gpu File={self.folder}/gpu[0-{gpus - 1}]\n" if gpus else "")
        key = os.path.join(self.folder, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as f:
            f.write(secrets.token_bytes(128))

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def _start_munge(self) -> None:
        paths = {
            option: os.path.join(self.folder, f"munge.{option}")
            for option in ("socket", "pid-file", "log-file", "seed-file")
        }
        options = [f"--{option}={path}" for option, path in paths.items()]
        self._munge = self._spawn(
            ["munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key", *options], "munged.out"
        )
        self._wait(lambda: os.path.exists(paths["socket"]), "munged")

    def _start(self, name: str, node: str, argv: list[str]) -> None:
        command = self.network[node].command(["env", f"SLURM_CONF={self.conf}", *argv])
        self._daemons[name] = self._spawn(command, f"{name}.out")

    def _spawn(self, argv: list[str], output: str) -> subprocess.Popen[bytes]:
        variables = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
        with open(os.path.join(self.folder, output), "ab") as f:
            return subprocess.Popen(
                argv, env=variables, stdin=subprocess.DEVNULL, stdout=f, stderr=f, start_new_session=True
            )

    def _kill(self, name: str) -> None:
        daemon = self._daemons.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.kill(daemon.pid, signal.SIGKILL)
        daemon.wait(_READY_S)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + _READY_S
        while not condition():
            if time.monotonic() > until:
                raise RuntimeError(f"Slurm: not within {_READY_S:.0f} s: {what}. {self._last_words()}")
            time.sleep(0.05)

    def _last_words(self) -> str:
        words = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out", "log-file")):
                with open(os.path.join(self.folder, name), errors="replace") as f:
                    words.append(f"{name}: {f.read()[-600:]}")
        return "\n".join(words)


def stop_kept() -> bool:
    """Remove the cluster that `start` has left; False when there is none."""
    folder = os.path.join(STATE, _KEPT)
    if not os.path.isdir(folder):
        return False
    remove_network(_KEPT, before=lambda: _end_munge(folder))
    return True


def _end_munge(folder: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        with open(os.path.join(folder, "munge.pid-file")) as f:
            pid = int(f.read())
        if command_line(pid)[:1] and os.path.basename(command_line(pid)[0]) == "munged":
            os.kill(pid, signal.SIGTERM)
            until = time.monotonic() + 10
            while command_line(pid)[:1] and time.monotonic() < until:
                time.sleep(0.01)  # it writes its seed into the folder before it goes


_NEXT = """\
A Slurm of {count} nodes ({names}) runs on this machine. Its commands find it with

    export SLURM_CONF={conf}
    sinfo

Rookery uses it with

    rookery compute attach slurm --name slurm -o conf={conf}
    python examples/ddp_per_process.py --compute slurm

It stays until `make slurm-cluster-stop`. Nodes reach this machine at {address}.
"""


def _main(words: Sequence[str]) -> int:
    if list(words) == ["stop"]:
        print("It is gone." if stop_kept() else "There is none.")
        return 0
    if not words or words[0] != "start" or len(words) > 2:
        print("usage: python -m rookery.testing.slurm_cluster start [NODES] | stop")
        return 2
    stop_kept()
    names = [f"n{i}" for i in range(int(words[1]) if len(words) > 1 else 2)]
    cluster = SlurmCluster(names, persistent=True, own_pids=True, cpus=max(2, os.cpu_count() or 1), gpus=0)
    note_cluster(cluster.folder, "slurm", {"conf": cluster.conf})
    print(_NEXT.format(count=len(names), names=", ".join(names), conf=cluster.conf, address=cluster.keeper_address))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
