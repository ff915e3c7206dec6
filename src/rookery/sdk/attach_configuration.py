"""What `ComputeTarget.attach` takes: machines that are there already, and how to reach them."""

from __future__ import annotations

import os
from typing import Any, Optional

from rookery.errors import ComputeError, UnsupportedError, UserError
from rookery.sdk.compute import ComputeTargetAttachConfiguration
from rookery.spec.compute import ClusterSpec, Reach, check_cluster_spec
from rookery.spec.engine_options import RAY, SLURM, SSH

__all__ = [
    "EngineAttachConfiguration",
    "RayComputeAttachConfiguration",
    "RemoteComputeAttachConfiguration",
    "SlurmComputeAttachConfiguration",
]

_SIZE = ("max_nodes", "cpus_per_node", "gpus_per_node", "description", "tags", "vm_priority")
_REACH = ("keeper_url", "transport", "shared_files", "node_home", "node_python")


class EngineAttachConfiguration(ComputeTargetAttachConfiguration):
    """A target on other machines. Rookery's own options, of every kind of target:

    Args:
        max_nodes: nodes at most; 0: as many as there are.
        cpus_per_node, gpus_per_node: what an agent takes of its node; None: all of it.
        keeper_url: where nodes find this keeper; empty: the address that faces them.
        transport: http or spool (files in the workspace's folder); empty: what works.
        shared_files: whether nodes see the workspace's folder at the same path; None: it is found out.
        node_home: folder on the nodes for code, environments and runs; empty: ~/.rookery/node.
        node_python: what starts the agent there; 3.9 or newer.
    """

    engine = ""

    def __init__(self, **given: Any) -> None:
        super().__init__(self.engine)
        common = {name: given.pop(name) for name in (*_SIZE, *_REACH) if name in given}
        self.options: dict[str, Any] = {k: v for k, v in given.items() if v not in (None, "", (), [], {})}
        self.size = {name: common[name] for name in _SIZE if common.get(name) is not None}
        self.reach = {name: common[name] for name in _REACH if common.get(name) not in (None, "")}
        self.secrets: dict[str, str] = {}

    def cluster_spec(self) -> ClusterSpec:
        """As the keeper wants it. ComputeError if it contradicts itself."""
        reach = dict(self.reach)
        if "node_python" in reach:
            reach["python"] = reach.pop("node_python")
        size = {"max_nodes": 0, **self.size}
        spec = ClusterSpec(engine=self.engine, options=dict(self.options), reach=Reach(**reach), **size)
        return check_cluster_spec(spec)

    def validate_configuration(self) -> None:
        self.cluster_spec()


class RayComputeAttachConfiguration(EngineAttachConfiguration):
    """A Ray cluster that runs."""

    engine = RAY


class SlurmComputeAttachConfiguration(EngineAttachConfiguration):
    """A Slurm cluster, through its commands on the keeper's machine."""

    engine = SLURM


class RemoteComputeAttachConfiguration(EngineAttachConfiguration):
    """One machine that answers to ssh (v1), or several (`addresses`)."""

    engine = SSH

    def __init__(
        self,
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
        **ours: Any,
    ) -> None:
        if resource_id or vm_name:
            raise UnsupportedError(
                f"RemoteCompute: machines of Azure ({resource_id or vm_name}) cannot be looked up by their resource. Give "
                "address, the name or address that ssh uses."
            )
        try:
            port = int(ssh_port)
        except (TypeError, ValueError):
            raise UserError(f"ssh_port={ssh_port!r} is no number. Usually it is 22.") from None
        super().__init__(username=username, address=address, ssh_port=port, **ours)
        self.subscription_id, self.resource_group = subscription_id, resource_group
        self.vm_name, self.resource_id = vm_name, resource_id
        self.username, self.address, self.ssh_port = username, address, port
        self.private_key_file = private_key_file
        self.password, self.private_key_passphrase = password, private_key_passphrase
        if private_key_file:
            self.options["private_key_file"] = os.path.abspath(os.path.expanduser(private_key_file))
        given = {"password_file": password, "passphrase_file": private_key_passphrase}
        self.secrets = {name: value for name, value in given.items() if value}

    def keep_secrets(self, folder: str) -> None:
        """Put password and passphrase into private files, because nothing else of a target is secret.

        Args:
            folder: of the target's engine, in the workspace; empty where the workspace is a server's.
        """
        if not self.secrets:
            return
        if not folder:
            raise ComputeError(
                "password and private_key_passphrase are not sent to a server. Put a key on the machine (`ssh-copy-id "
                "USER@ADDRESS`) and give private_key_file, a path on the server; or give password_file, a private file there."
            )
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for name, value in self.secrets.items():
            path = os.path.join(folder, name.replace("_file", ""))
            with open(path, "w", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
                f.write(value + "\n")
            self.options[name] = path
