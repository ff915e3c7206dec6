"""What a compute target says to its engine (`ClusterSpec.options`), typed: one dataclass per engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from rookery.errors import ComputeError, UserError
from rookery.spec.plain import from_plain, to_plain

__all__ = [
    "EMBEDDED",
    "ENGINE_NAMES",
    "KUBERNETES",
    "RAY",
    "SLURM",
    "SSH",
    "EngineOptions",
    "KubernetesOptions",
    "RayOptions",
    "SlurmOptions",
    "SshOptions",
    "options_to_plain",
    "read_options",
]

EMBEDDED, RAY, SLURM, SSH, KUBERNETES = "embedded", "ray", "slurm", "ssh", "kubernetes"
ENGINE_NAMES = (EMBEDDED, RAY, SLURM, SSH, KUBERNETES)


@dataclass(frozen=True)
class RayOptions:
    """A running Ray cluster. How much an agent reserves on its node is ClusterSpec.cpus_per_node and gpus_per_node
    (None: the whole node's cores; GPUs that the whole node has)."""

    address: str = (
        ""  # of the cluster's head as `ray start --head` prints it, HOST:PORT; or ray://HOST:PORT of a Ray Client
    )
    namespace: str = "rookery"
    strategy: str = "strict_spread"  # strict_spread: a machine per node; spread: where possible; pack: may share one
    resources: dict[str, float] = field(default_factory=dict)  # of Ray's own names, reserved on every node besides
    auth: str = "token"  # token | disabled: as the cluster was started (RAY_AUTH_MODE)
    token_path: str = ""  # file with the cluster's token, on the keeper's machine; empty: ~/.ray/auth_token
    ray_version: str = ""  # of the bridge's environment; empty: asked of the cluster, else the newest we know
    python: str = ""  # Python of the bridge's environment, as 3.11; Ray wants the cluster's minor version. Empty: ours
    bridge_python: str = ""  # an interpreter that has the right Ray already; empty: an environment is made for it


@dataclass(frozen=True)
class SlurmOptions:
    """A Slurm cluster through its commands, which must be on the PATH of the keeper's machine (or in `bin`). Empty and
    None: not said, so the cluster's own default holds."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    time_limit: str = ""  # minutes, or [DAYS-]HOURS:MINUTES:SECONDS
    constraint: str = ""
    reservation: str = ""
    gres: str = ""  # gpu:2; empty: gpu:N where ClusterSpec.gpus_per_node is given
    cpus_per_task: Optional[int] = None  # an agent's cores; None: ClusterSpec.cpus_per_node, else the whole node
    mem: str = ""  # per node, 16G; 0: all of it
    nodelist: str = ""
    exclude: str = ""
    nice: Optional[int] = None
    signal_s: int = 120  # so long before the time limit the run is preempted, to save its work; 0: not at all
    requeue: bool = True  # whether a run that Slurm itself took away (preempted, limit, lost node) is queued again
    setup: tuple[str, ...] = ()  # lines of shell before the agent starts: module load cuda/12
    extra: tuple[str, ...] = ()  # options of sbatch for which there is no field: --switches=1, as they are
    bin: str = ""  # folder of sbatch, squeue, scontrol … when it is not on the PATH
    conf: str = ""  # SLURM_CONF, when it is not the default file


@dataclass(frozen=True)
class SshOptions:
    """Machines that answer to OpenSSH: one, or several of the same kind with the same user and key."""

    address: str = ""
    addresses: tuple[str, ...] = ()  # instead of `address`: several machines, each HOST or HOST:PORT
    ssh_port: int = 22
    username: str = ""  # empty: as the keeper's user, or what ~/.ssh/config says
    private_key_file: str = ""  # on the keeper's machine; empty: the agent's keys and the default files
    password_file: str = ""  # on the keeper's machine, readable by its user only; better a key
    passphrase_file: str = ""  # of the private key, likewise; better ssh's agent
    known_hosts: str = ""  # file; empty: one of the target's own, and ~/.ssh/known_hosts
    host_key_check: str = "accept-new"  # accept-new: trust at first sight; strict: it must be known already
    connect_timeout_s: int = 10
    slots: int = 1  # nodes that one machine makes; its cores and GPUs are divided among them
    lost_after_s: int = 600  # without a connection for so long a machine's agents count as lost; 0: never
    extra: tuple[str, ...] = ()  # options of ssh(1) for which there is no field, as they are: -oProxyJump=gate


@dataclass(frozen=True)
class KubernetesOptions:
    """A cluster of Kubernetes that is given its manifests by somebody else (`kubectl apply`): nothing here talks to it."""

    image: str = ""  # of the pods; empty: the base image of the run's environment
    namespace: str = ""
    cpus: str = ""  # of a pod, as Kubernetes writes them: 4, 500m
    memory: str = ""  # 16Gi
    gpus: int = 0
    gpu_resource: str = "nvidia.com/gpu"
    shared_memory: str = ""  # of /dev/shm, which loaders of data use: 8Gi
    service_account: str = ""
    queue: str = ""  # Kueue's local queue
    lost_after_s: int = 300  # a pod that was there and is not heard of for so long counts as lost; 0: never


EngineOptions = Union[RayOptions, SlurmOptions, SshOptions, KubernetesOptions]
_CLASSES: dict[str, type] = {RAY: RayOptions, SLURM: SlurmOptions, SSH: SshOptions, KUBERNETES: KubernetesOptions}
_STRATEGIES = ("strict_spread", "spread", "pack")
_TIME = re.compile(r"\d+|\d+:\d{1,2}(:\d{1,2})?|\d+-\d{1,2}(:\d{1,2}){0,2}|UNLIMITED|INFINITE", re.IGNORECASE)
_MEMORY = re.compile(r"\d+[KMGT]?", re.IGNORECASE)
# What we set ourselves: said twice, the second would win in silence.
_SLURM_OURS = {
    "-N": "the run's node_count",
    "--nodes": "the run's node_count",
    "-n": "the run's process counts",
    "--ntasks": "the run's process counts",
    "--ntasks-per-node": "the run's process counts",
    "-J": "the run",
    "--job-name": "the run",
    "-o": "the run's logs",
    "--output": "the run's logs",
    "-e": "the run's logs",
    "--error": "the run's logs",
    "--export": "environment_variables of the run",
    "--wait": "the controller",
    "-W": "the controller",
    "--array": "the controller",
    "-a": "the controller",
    "--parsable": "the controller",
    "--open-mode": "the controller",
    "--wrap": "the controller",
    "-p": "the field partition",
    "--partition": "the field partition",
    "-A": "the field account",
    "--account": "the field account",
    "-q": "the field qos",
    "--qos": "the field qos",
    "-t": "the field time_limit",
    "--time": "the field time_limit",
    "-C": "the field constraint",
    "--constraint": "the field constraint",
    "--reservation": "the field reservation",
    "--gres": "the field gres",
    "-c": "the field cpus_per_task",
    "--cpus-per-task": "the field cpus_per_task",
    "--mem": "the field mem",
    "-w": "the field nodelist",
    "--nodelist": "the field nodelist",
    "-x": "the field exclude",
    "--exclude": "the field exclude",
    "--nice": "the field nice",
    "--signal": "the field signal_s",
    "--requeue": "the field requeue",
    "--no-requeue": "the field requeue",
}


def read_options(engine: str, options: Mapping[str, Any]) -> Optional[EngineOptions]:
    """The typed options of an engine, checked; None for embedded, which has none.

    Raises:
        ComputeError: the engine does not exist, a field does not, or a value is not allowed; names the field.
    """
    if engine not in ENGINE_NAMES:
        raise ComputeError(f"engine={engine!r} does not exist. Known: {', '.join(ENGINE_NAMES)}.")
    if engine == EMBEDDED:
        if options:
            raise ComputeError(f"options={sorted(options)}: the engine 'embedded' has no options.")
        return None
    _refuse_secrets(options)
    try:
        read: EngineOptions = from_plain(_CLASSES[engine], dict(options))
    except UserError as error:
        raise ComputeError(f"Options of the engine '{engine}': {error.message}") from error
    _CHECKS[engine](read)
    return read


def options_to_plain(options: Optional[EngineOptions]) -> dict[str, Any]:
    """What was said and differs from the default, for ClusterSpec.options."""
    if options is None:
        return {}
    default = to_plain(type(options)())
    return {name: value for name, value in to_plain(options).items() if value != default[name]}


def _refuse_secrets(options: Mapping[str, Any]) -> None:
    """Secrets are not kept in the record, where every run may read them."""
    if options.get("password"):
        raise ComputeError(
            "password: passwords are not used, because they would have to be kept. Put a key on the machine "
            "(`ssh-copy-id USER@ADDRESS`) and give private_key_file, or let ssh's agent hold it."
        )
    if options.get("private_key_passphrase"):
        raise ComputeError(
            "private_key_passphrase: passphrases are not kept. Let ssh's agent hold the key (`ssh-add KEY`), or give "
            "private_key_file of a key without one."
        )
    if options.get("token"):
        raise ComputeError("token: tokens are not kept. Put it into a file that only you can read and give token_path.")


def _check_ray(options: RayOptions) -> None:
    _need_host_and_port("address", options.address.replace("ray://", "", 1), 6379)
    _one_of("strategy", options.strategy, _STRATEGIES)
    _one_of("auth", options.auth, ("token", "disabled"))
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", options.namespace):
        raise ComputeError(f"namespace={options.namespace!r}: letters, digits, '_', '.' and '-' are allowed.")
    for name, amount in options.resources.items():
        if amount <= 0:
            raise ComputeError(f"resources[{name!r}]={amount:g} must be more than 0.")
        if name in ("CPU", "GPU"):
            field_name = "cpus_per_node" if name == "CPU" else "gpus_per_node"
            raise ComputeError(f"resources[{name!r}]: say it with {field_name} of the compute target.")
    if options.ray_version and not re.fullmatch(r"\d+\.\d+(\.\d+)?([a-z0-9.+]+)?", options.ray_version):
        raise ComputeError(f"ray_version={options.ray_version!r} is no version. Give it as 2.60.0.")
    if options.python and not re.fullmatch(r"3\.\d+(\.\d+)?", options.python):
        raise ComputeError(f"python={options.python!r} is no version of Python. Give it as 3.11.")


def _check_slurm(options: SlurmOptions) -> None:
    if options.time_limit and not _TIME.fullmatch(options.time_limit):
        raise ComputeError(
            f"time_limit={options.time_limit!r} is no time. Allowed: minutes (90), HOURS:MINUTES:SECONDS (12:00:00), "
            "DAYS-HOURS (2-12), UNLIMITED."
        )
    if options.mem and not _MEMORY.fullmatch(options.mem):
        raise ComputeError(f"mem={options.mem!r} is no amount. Give it as 16G or 512M; 0 is all of a node's memory.")
    if options.cpus_per_task is not None and options.cpus_per_task < 1:
        raise ComputeError(f"cpus_per_task={options.cpus_per_task} must be 1 or more.")
    if not 0 <= options.signal_s <= 65535:
        raise ComputeError(f"signal_s={options.signal_s} must be between 0 (no signal) and 65535 seconds.")
    for name in ("partition", "account", "qos", "constraint", "reservation", "gres", "nodelist", "exclude"):
        value = getattr(options, name)
        if value.startswith("-") or re.search(r"[\s\x00]", value):
            raise ComputeError(f"{name}={value!r} must not begin with '-' nor hold spaces.")
    for line in options.setup:
        if "\n" in line or "\x00" in line:
            raise ComputeError(f"setup: {line!r} is more than one line. Give each line as an entry of its own.")
    for option in options.extra:
        _check_sbatch_option(option)


def _check_sbatch_option(option: str) -> None:
    if not re.fullmatch(r"--?[A-Za-z][^\n\x00]*", option):
        raise ComputeError(f"extra: {option!r} is no option of sbatch. Give each as one entry: --switches=1.")
    name = option.split("=", 1)[0] if option.startswith("--") else option[:2]
    if name in _SLURM_OURS:
        raise ComputeError(f"extra: {option!r} is set by {_SLURM_OURS[name]}. Leave it out.")


def _check_ssh(options: SshOptions) -> None:
    if bool(options.address) == bool(options.addresses):
        raise ComputeError(
            "Give the machine's name or address (address=gpu1.example.org), or those of several machines (addresses=…), "
            "and not both."
        )
    for address in (options.address, *options.addresses):
        if address.startswith("-") or re.search(r"[\s@/\x00]", address):
            raise ComputeError(
                f"address={address!r} is no machine's name. Give the name or address alone, the user as username."
            )
    if len(set(options.addresses)) < len(options.addresses):
        raise ComputeError("addresses: a machine is named twice. For several nodes on one machine there is `slots`.")
    for name, least in (("slots", 1), ("lost_after_s", 0)):
        if getattr(options, name) < least:
            raise ComputeError(f"{name}={getattr(options, name)} must be {least} or more.")
    if not 1 <= options.ssh_port <= 65535:
        raise ComputeError(f"ssh_port={options.ssh_port} must be between 1 and 65535.")
    if options.username.startswith("-") or re.search(r"[\s@\x00]", options.username):
        raise ComputeError(f"username={options.username!r} is no user's name.")
    _one_of("host_key_check", options.host_key_check, ("accept-new", "strict"))
    if options.connect_timeout_s < 1:
        raise ComputeError(f"connect_timeout_s={options.connect_timeout_s} must be 1 or more.")
    for option in options.extra:
        if not option.startswith("-") or "\x00" in option or "\n" in option:
            raise ComputeError(f"extra: {option!r} is no option of ssh. Give each as one entry: -oProxyJump=gate.")


def _check_kubernetes(options: KubernetesOptions) -> None:
    for name in ("gpus", "lost_after_s"):
        if getattr(options, name) < 0:
            raise ComputeError(f"{name}={getattr(options, name)} must be 0 or more.")
    for name in ("image", "namespace", "cpus", "memory", "gpu_resource", "shared_memory", "service_account", "queue"):
        if re.search(r"[\s\x00]", getattr(options, name)):
            raise ComputeError(f"{name}={getattr(options, name)!r} must not hold spaces.")


def _need_host_and_port(name: str, value: str, port: int) -> None:
    if not value:
        raise ComputeError(f"{name} is missing. Give HOST:PORT of the cluster's head, usually HOST:{port}.")
    host, _, number = value.rpartition(":")
    if not host or not number.isdigit() or not 1 <= int(number) <= 65535 or re.search(r"[\s/\x00]", value):
        raise ComputeError(f"{name}={value!r} is not HOST:PORT. Give the cluster's head, usually HOST:{port}.")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ComputeError(f"{name}={value!r} does not exist. Known: {', '.join(allowed)}.")


_CHECKS: dict[str, Any] = {RAY: _check_ray, SLURM: _check_slurm, SSH: _check_ssh, KUBERNETES: _check_kubernetes}
