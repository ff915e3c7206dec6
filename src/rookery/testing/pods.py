"""Stands in for Kubernetes: starts the containers of a JobSet's manifests as plain processes on machines of network namespaces.

    with Pods(2) as pods:
        pods.apply(manifests)        # every pod runs its own command, with its own variables and its Secret's files
        pods.wait()                  # exit codes, by index

Only what our manifests use is done: an Indexed job, fieldRef, resourceFieldRef, $(NAME), Secrets and emptyDir, names of pods in the
JobSet's subdomain. What it does not know it refuses, so that a manifest which asks for more is noticed.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Sequence
from typing import Any

from rookery.testing.netns import Network

__all__ = ["Pods"]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FOLDERS = ("/run/rookery/boot", "/rookery")  # where our manifests mount volumes


class Pods:
    """A machine per pod; its address is also known as `network.address` on this side."""

    def __init__(self, count: int) -> None:
        self._missing = [folder for folder in _FOLDERS if not os.path.exists(folder)]
        self.network = Network([f"k{i}" for i in range(count)], private=_FOLDERS, own_pids=True)
        self._running: list[subprocess.Popen[Any]] = []

    def __enter__(self) -> Pods:
        return self

    def __exit__(self, *_: object) -> None:
        self.network.close()
        for process in self._running:
            process.wait(30)
        for folder in self._missing:  # mount points; empty on this side
            with contextlib.suppress(OSError):
                os.removedirs(folder)

    def apply(self, manifests: Sequence[dict[str, Any]]) -> None:
        """Start every pod of the one job in them."""
        secret, jobset = manifests
        assert (secret["kind"], jobset["kind"]) == ("Secret", "JobSet")
        (replicated,) = jobset["spec"]["replicatedJobs"]
        job, name = replicated["template"]["spec"], jobset["metadata"]["name"]
        assert job["completionMode"] == "Indexed"
        nodes = list(self.network)[: job["completions"]]
        assert len(nodes) == job["completions"] == job["parallelism"]
        subdomain = jobset["spec"]["network"]["subdomain"]
        names = [f"{name}-{replicated['name']}-0-{i}.{subdomain}" for i in range(len(nodes))]
        for node in nodes:
            with open(os.path.join("/etc/netns", node.namespace, "hosts"), "a") as f:
                f.writelines(f"{other.address} {other_name}\n" for other, other_name in zip(nodes, names))
        for index, node in enumerate(nodes):
            pod = job["template"]["spec"]
            (container,) = pod["containers"]
            self._mount(node, pod["volumes"], container["volumeMounts"], secret)
            with open(self._log(index), "w") as errors:
                process = node.popen(
                    container["command"],
                    env={"PATH": _PATH, **_variables(container, index, node.name)},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                )
            self._running.append(process)

    def wait(self, timeout_s: float = 120.0) -> list[int]:
        """Exit codes of all pods that were started since the last time."""
        running, self._running = self._running, []
        return [process.wait(timeout_s) for process in running]

    def words(self, index: int) -> str:
        """What a pod said on standard error."""
        with open(self._log(index)) as f:
            return f.read()

    def kill(self, index: int) -> None:
        """A pod is evicted: nothing of it says good-bye."""
        list(self.network)[index].kill_processes()

    def _log(self, index: int) -> str:
        return os.path.join(self.network.folder, f"pod-{index}.err")

    def _mount(
        self, node: Any, volumes: list[dict[str, Any]], mounts: list[dict[str, Any]], secret: dict[str, Any]
    ) -> None:
        by_name = {volume["name"]: volume for volume in volumes}
        for mount in mounts:
            volume, disk = by_name[mount["name"]], node.disk(mount["mountPath"])
            if "emptyDir" in volume:
                continue
            assert volume["secret"]["secretName"] == secret["metadata"]["name"]
            for file, text in secret["stringData"].items():
                path = os.path.join(disk, file)
                with open(path, "w") as f:
                    f.write(text)
                os.chmod(path, volume["secret"]["defaultMode"])


def _variables(container: dict[str, Any], index: int, node_name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    fields = {
        "metadata.annotations['batch.kubernetes.io/job-completion-index']": str(index),
        "spec.nodeName": node_name,
    }
    for one in container["env"]:
        source = one.get("valueFrom")
        if source is None:  # $(NAME) is a variable that stands before it
            found[one["name"]] = re.sub(r"\$\((\w+)\)", lambda match: found[match.group(1)], one["value"])
        elif "fieldRef" in source:
            found[one["name"]] = fields[source["fieldRef"]["fieldPath"]]
        else:
            assert source["resourceFieldRef"]["resource"] == "limits.cpu"
            found[one["name"]] = container["resources"]["limits"]["cpu"]
    return found
