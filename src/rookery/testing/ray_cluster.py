"""A real Ray cluster on this machine, for tests and for trying things out: a head and workers in network namespaces.

    with RayCluster() as cluster:
        cluster.options            # of a compute target with engine 'ray'
        cluster.kill_node("r1"); cluster.start_node("r1")

`python -m rookery.testing.ray_cluster up|down` is `make ray-cluster` and `make ray-cluster-stop`. Nothing listens outside the
namespaces, and `ray stop`, which ends every Ray of a machine, is never used. Needs root.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import rookery
from rookery.testing.lasting import note_cluster
from rookery.testing.netns import STATE, Network, Node, remove_network

__all__ = ["RAY_VERSION", "STUMBLING", "RayCluster", "ensure_ray"]

RAY_VERSION = "2.60.0"
PORT, CLIENT_PORT, DASHBOARD_PORT = 6379, 10001, 8265
_START_S = 120.0
_LASTING = "rkray"  # the network of `make ray-cluster`
# Without it one client in four is turned away: what Ray Client's server forks for a new client dies of a race in gRPC's fork
# handlers (ray-project/ray#63202). A test that is about this gives STUMBLING as variables.
_STEADY = {"GRPC_ENABLE_FORK_SUPPORT": "0"}
STUMBLING = {"GRPC_ENABLE_FORK_SUPPORT": "1"}
# A cut cable is noticed in seconds instead of a minute, and raylets leave a dead head soon.
_QUICK = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "8",
    "RAY_enable_metrics_collection": "0",
}
_SCALING = {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "3"}
_NO_COMMANDS = (
    "initialization_commands",
    "setup_commands",
    "head_setup_commands",
    "worker_setup_commands",
    "head_start_ray_commands",
    "worker_start_ray_commands",
    "cluster_synced_files",
    "rsync_exclude",
    "rsync_filter",
)
_CLEAR = """
import ray
from ray.util import list_named_actors, placement_group_table, remove_placement_group
from ray.util.placement_group import PlacementGroup
ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
for one in list_named_actors(all_namespaces=True):
    try:
        ray.kill(ray.get_actor(one["name"], namespace=one["namespace"]))
    except ValueError:
        pass
for number, group in placement_group_table().items():
    if group["state"] != "REMOVED":
        remove_placement_group(PlacementGroup(ray.PlacementGroupID(bytes.fromhex(number))))
"""


def ensure_ray() -> str:
    """The Python of an environment that has Ray, beside the project's own; made where it is missing (about a minute).

    Raises:
        RuntimeError: it could not be made.
    """
    folder = Path(rookery.__file__).resolve().parents[2] / ".venv-ray"
    python, done = folder / "bin" / "python", folder / f".ray-{RAY_VERSION}"
    if done.exists():
        return str(python)
    with open(f"{folder}.lock", "w") as lock:  # two test runs at a time make it once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            if not python.exists():
                _run([sys.executable, "-m", "venv", str(folder)])
            _run([str(python), "-m", "pip", "install", "-q", f"ray[default]=={RAY_VERSION}"])
            done.touch()
    Path(f"{folder}.lock").unlink(missing_ok=True)
    return str(python)


class RayCluster:
    """A head `r0` and workers `r1` …, each a node of its own with its own address and its own /tmp/ray.

    Args:
        num_nodes: with the head.
        cpus: what each node says it has.
        gpus: made-up ones, where a test needs indices.
        variables: for all Ray processes.
        private: further folders that every node has for itself.
        own_pids: nodes have process numbers of their own, so that this machine's keeper takes none of theirs for its own.
        dashboard: with Ray's dashboard, which `ray job submit` needs.
        persistent: it outlives this process.
        scales: kinds of nodes that Ray's autoscaler may add, name → {"resources", "max_workers"}. Those are raylets of their own
            beside the head's (Ray's fake_multinode provider): real nodes for Ray, with the head's address and host name.
    """

    def __init__(
        self,
        num_nodes: int = 3,
        cpus: int = 2,
        gpus: int = 0,
        variables: Optional[Mapping[str, str]] = None,
        private: Sequence[str] = (),
        own_pids: bool = False,
        dashboard: bool = False,
        persistent: bool = False,
        scales: Optional[Mapping[str, Mapping[str, Any]]] = None,
    ) -> None:
        self.python = ensure_ray()
        self._dashboard = dashboard
        self.cpus, self.gpus = cpus, gpus
        names = [f"r{i}" for i in range(num_nodes)]
        self.network = Network(
            names,
            private=("/tmp/ray", *private),
            own_pids=own_pids,
            persistent=persistent,
            name=_LASTING if persistent else "",
        )
        self.folder = self.network.folder
        try:
            self.token_path = os.path.join(self.folder, "ray-token")
            with open(os.open(self.token_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
                f.write(secrets.token_hex(32))
            self.variables = {
                **{k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "ROOKERY_", "PYTHON"))},
                **_QUICK,
                **_STEADY,
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": self.token_path,
                "RAY_USAGE_STATS_ENABLED": "0",
                **(_SCALING if scales else {}),
                **(variables or {}),
            }
            self._scaling_path = self._write_scaling(scales) if scales else ""
            self._start_all(names)
        except BaseException:
            self.close()
            raise

    @property
    def head(self) -> Node:
        return self.network["r0"]

    @property
    def address(self) -> str:
        """Of the head, as `ray start` prints it."""
        return f"{self.head.address}:{PORT}"

    @property
    def client_address(self) -> str:
        return f"ray://{self.head.address}:{CLIENT_PORT}"

    @property
    def dashboard_url(self) -> str:
        """Where `ray job submit` sends jobs to, of a cluster that has a dashboard."""
        return f"http://{self.head.address}:{DASHBOARD_PORT}"

    @property
    def options(self) -> dict[str, Any]:
        """ClusterSpec.options of a target over this cluster, through Ray Client and with a Ray that is there already."""
        return {"address": self.client_address, "token_path": self.token_path, "bridge_python": self.python}

    @property
    def driver_options(self) -> dict[str, Any]:
        """The same for a keeper on the head: its bridge runs there, as a driver."""
        return {**self.options, "address": self.address, "bridge_python": self._python_on_head()}

    def start_node(self, name: str) -> None:
        """Start Ray on a node (again); returns when it has joined. Ray that does not come up is given a second try: on a busy
        machine its own patience with its processes is short."""
        try:
            self._start_ray(name)
        except (RuntimeError, subprocess.TimeoutExpired):
            self.network[name].kill_processes()
            self._start_ray(name)

    def _start_ray(self, name: str) -> None:
        node = self.network[name]
        node.boot()
        where = ["--head", f"--port={PORT}", f"--ray-client-server-port={CLIENT_PORT}"]
        where += [
            f"--include-dashboard={'true' if self._dashboard else 'false'}",
            f"--dashboard-host={node.address}",
            f"--dashboard-port={DASHBOARD_PORT}",
        ]
        where += [f"--autoscaling-config={self._scaling_path}"] if self._scaling_path else []
        command = [
            *(where if node is self.head else [f"--address={self.address}"]),
            f"--node-ip-address={node.address}",
            f"--num-cpus={self.cpus}",
            f"--num-gpus={self.gpus}",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
            "--include-log-monitor=false",  # agents keep their logs themselves
        ]
        # Not through pipes: the daemons that it leaves would hold them open.
        log = os.path.join(self.folder, f"{name}-start.log")
        with open(log, "w") as out:
            done = node.popen(
                [os.path.join(os.path.dirname(self.python), "ray"), "start", *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self.variables,
                cwd="/",
            ).wait(_START_S)
        if done:
            raise RuntimeError(f"Ray could not be started on {name}: {Path(log).read_text()[-2000:]}")

    def kill_node(self, name: str) -> None:
        """The power of a node is gone."""
        self.network[name].crash()

    def run(self, program: str, timeout_s: float = 120.0) -> str:
        """What a Python program on the head prints; Ray's variables are set."""
        done = self.head.run([self.python, "-c", program], timeout_s, env=self.variables, cwd="/")
        if done.returncode:
            raise RuntimeError(f"A program on the head failed: {done.stderr[-2000:]}")
        return str(done.stdout)

    def here(self, told: dict[str, Any]) -> dict[str, Any]:
        """What a stand-in agent told of a process, with its number on this side."""
        return {**told, "pid": self.network[told["host"]].pid_here(told["pid"])}

    def clear(self) -> None:
        """End all actors and give back all reservations, whoever has left them."""
        self.run(_CLEAR)

    def close(self) -> None:
        self.network.close()

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start_all(self, names: Sequence[str]) -> None:
        self.start_node(names[0])
        errors: list[BaseException] = []
        threads = [threading.Thread(target=self._try_start, args=(name, errors)) for name in names[1:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def _try_start(self, name: str, errors: list[BaseException]) -> None:
        try:
            self.start_node(name)
        except BaseException as error:
            errors.append(error)

    def _write_scaling(self, kinds: Mapping[str, Mapping[str, Any]]) -> str:
        """The file of Ray's autoscaler (which is YAML, so JSON will do)."""
        alone = {"resources": {"CPU": self.cpus}, "node_config": {}, "max_workers": 0}
        config = {
            "cluster_name": "scaled",
            "max_workers": sum(kind["max_workers"] for kind in kinds.values()),
            "idle_timeout_minutes": 5,
            "upscaling_speed": 100,
            "provider": {
                "type": "fake_multinode",
                "use_node_id_as_ip": True,  # its nodes have one address
                "disable_node_updaters": True,
                "disable_launch_config_check": True,
                "launch_multiple": True,
                "gcs_address": self.address,
            },
            "head_node_type": "ray.head.default",
            "available_node_types": {
                "ray.head.default": alone,
                **{name: {"node_config": {}, "min_workers": 0, **kind} for name, kind in kinds.items()},
            },
            **{name: {} for name in ("auth", "docker", "file_mounts")},
            **{name: [] for name in _NO_COMMANDS},
        }
        path = os.path.join(self.folder, "autoscaler.yaml")
        with open(path, "w") as f:
            json.dump(config, f)
        return path

    def _python_on_head(self) -> str:
        """A program that is this cluster's Python, run on the head."""
        path = os.path.join(self.folder, "python-on-head")
        words = " ".join(f"'{word}'" for word in self.head.command([self.python]))
        new = f"{path}.{secrets.token_hex(4)}"  # a bridge may be starting it in this very moment
        with open(new, "w") as f:
            f.write(f'#!/bin/sh\nexec {words} "$@"\n')
        os.chmod(new, 0o755)
        os.replace(new, path)
        return path


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed: {done.stderr[-2000:]}")


def _up() -> None:
    if os.path.exists(os.path.join(STATE, _LASTING)):
        raise SystemExit("A cluster is there already. Stop it with `make ray-cluster-stop`.")
    cluster = RayCluster(persistent=True, own_pids=True)
    options = {"address": cluster.client_address, "token_path": cluster.token_path, "bridge_python": cluster.python}
    note_cluster(cluster.folder, "ray", options)
    print(
        f"A Ray {RAY_VERSION} cluster of {len(cluster.network.nodes)} nodes runs in network namespaces of this machine."
    )
    print("Attach it, run something on it, and stop it with `make ray-cluster-stop`:\n")
    print(
        f"  rookery compute attach ray {cluster.client_address} --name ray \\\n"
        f"    --option token_path={cluster.token_path} --option bridge_python={cluster.python}"
    )
    print("  python examples/ddp_per_process.py --compute ray")


def _down() -> None:
    remove_network(_LASTING)
    shutil.rmtree(os.path.join(STATE, _LASTING), ignore_errors=True)
    print("The Ray cluster is gone.")


if __name__ == "__main__":
    {"up": _up, "down": _down}[sys.argv[1]]()
