"""The kinds of targets that are attached: a machine over ssh (v1's RemoteCompute), a Ray cluster, a Slurm cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from rookery.sdk.attach_configuration import (
    RayComputeAttachConfiguration,
    RemoteComputeAttachConfiguration,
    SlurmComputeAttachConfiguration,
)
from rookery.sdk.attached_compute import AttachedCompute, attach_compute

__all__ = ["ExportedCompute", "RayCompute", "RemoteCompute", "SlurmCompute"]


class RemoteCompute(AttachedCompute):
    """An owned machine over OpenSSH; with `addresses` several, on which runs of several nodes are spread."""

    _compute_type = "VirtualMachine"

    @staticmethod
    def attach_configuration(
        username: str = "",
        subscription_id: Optional[str] = None,
        resource_group: Optional[str] = None,
        vm_name: Optional[str] = None,
        resource_id: Optional[str] = None,
        address: Optional[str] = None,
        ssh_port: int = 22,
        password: str = "",
        private_key_file: str = "",
        private_key_passphrase: str = "",
        *,
        addresses: Sequence[str] = (),
        slots: int = 1,
        known_hosts: str = "",
        host_key_check: str = "accept-new",
        lost_after_s: int = 600,
        extra: Sequence[str] = (),
        **others: Any,
    ) -> RemoteComputeAttachConfiguration:
        """What `ComputeTarget.attach` takes. Keys are better than passwords; files are those of the keeper's machine.

        Args:
            addresses: instead of `address`, several machines with the same user and key, each HOST or HOST:PORT.
            slots: nodes that one machine makes.
            host_key_check: accept-new trusts a machine at first sight, strict wants its key known already.
            lost_after_s: without a connection for so long a machine's agents count as lost; 0: never.
            extra: options of ssh for which there is none here: -oProxyJump=gate.
            others: of every attached target, see EngineAttachConfiguration.
        """
        return RemoteComputeAttachConfiguration(
            username,
            subscription_id,
            resource_group,
            vm_name,
            resource_id,
            address,
            ssh_port,
            password,
            private_key_file,
            private_key_passphrase,
            addresses=list(addresses),
            slots=slots,
            known_hosts=known_hosts,
            host_key_check=host_key_check,
            lost_after_s=lost_after_s,
            extra=list(extra),
            **others,
        )

    @staticmethod
    def attach(
        workspace: Any,
        name: str,
        username: Any = "",
        address: str = "",
        ssh_port: int = 22,
        password: str = "",
        private_key_file: str = "",
        private_key_passphrase: str = "",
    ) -> Any:
        """Attach one machine (v1's older spelling). With a configuration as third argument: ComputeTarget.attach."""
        if not isinstance(username, str):
            return attach_compute(workspace, name, username)
        configuration = RemoteCompute.attach_configuration(
            username,
            address=address,
            ssh_port=ssh_port,
            password=password,
            private_key_file=private_key_file,
            private_key_passphrase=private_key_passphrase,
        )
        return attach_compute(workspace, name, configuration)


class RayCompute(AttachedCompute):
    """A Ray cluster that runs: one agent per node, in its own environment, never in a Ray worker."""

    _compute_type = "Ray"

    @staticmethod
    def attach_configuration(
        address: str,
        *,
        namespace: str = "rookery",
        strategy: str = "strict_spread",
        resources: Optional[dict[str, float]] = None,
        auth: str = "token",
        token_path: str = "",
        ray_version: str = "",
        python: str = "",
        bridge_python: str = "",
        **others: Any,
    ) -> RayComputeAttachConfiguration:
        """What `ComputeTarget.attach` takes.

        Args:
            address: HOST:PORT of the cluster's head, as `ray start --head` prints it; or ray://HOST:PORT of a Ray Client.
            strategy: strict_spread (a machine per node), spread (where possible), pack (may share one).
            resources: of Ray's own names, reserved on every node besides.
            auth: token or disabled, as the cluster was started; token_path: file with the token on the keeper's machine.
            ray_version, python: of the environment of the bridge; empty: the cluster's.
            bridge_python: an interpreter that has the right Ray already.
            others: of every attached target, see EngineAttachConfiguration.
        """
        return RayComputeAttachConfiguration(
            address=address,
            namespace=namespace,
            strategy=strategy,
            resources=resources,
            auth=auth,
            token_path=token_path,
            ray_version=ray_version,
            python=python,
            bridge_python=bridge_python,
            **others,
        )


class SlurmCompute(AttachedCompute):
    """A Slurm cluster through its commands. What is not said is as the cluster's own defaults are."""

    _compute_type = "Slurm"

    @staticmethod
    def attach_configuration(
        partition: str = "",
        account: str = "",
        qos: str = "",
        time_limit: str = "",
        *,
        constraint: str = "",
        reservation: str = "",
        gres: str = "",
        cpus_per_task: Optional[int] = None,
        mem: str = "",
        nodelist: str = "",
        exclude: str = "",
        nice: Optional[int] = None,
        signal_s: Optional[int] = None,
        requeue: Optional[bool] = None,
        setup: Sequence[str] = (),
        extra: Sequence[str] = (),
        bin: str = "",
        conf: str = "",
        **others: Any,
    ) -> SlurmComputeAttachConfiguration:
        """What `ComputeTarget.attach` takes; the names are sbatch's.

        Args:
            signal_s: so long before the time limit a run is preempted, to save its work (120).
            requeue: whether a run that Slurm took away is queued again (True).
            setup: lines of shell before the agent starts: module load cuda/12.
            extra: options of sbatch for which there is none here, as they are: --switches=1.
            bin, conf: folder of Slurm's commands, and SLURM_CONF, where they are not the default ones.
            others: of every attached target, see EngineAttachConfiguration.
        """
        given = dict(locals())
        more = given.pop("others")
        given.update(setup=list(setup), extra=list(extra))
        return SlurmComputeAttachConfiguration(**given, **more)


class ExportedCompute(AttachedCompute):
    """Kubernetes: runs wait until somebody applies their manifests (`rookery export RUN`). Made by `rookery run --export`."""

    _compute_type = "Kubernetes"
