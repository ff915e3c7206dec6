"""A run as manifests of Kubernetes: a JobSet whose pods start the same agents as any engine does. Pure.

One pod per node of the run. Its program is the boot program, from a Secret, on standard input of the image's Python; its node
number is the job's completion index, its address a name of the JobSet's headless service.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rookery.errors import RunConfigError
from rookery.spec.engine_options import KubernetesOptions
from rookery.spec.run import RunSpec

__all__ = ["KUBERNETES_NAMES", "check_exportable", "make_manifests"]

KUBERNETES_NAMES = ("k8s", "kubernetes")  # what `--compute` calls it
API = "jobset.x-k8s.io/v1alpha2"
NODES = "nodes"  # the one replicated job
MAX_NAME = 40  # a pod is called <name>-nodes-0-<index>-<five letters>, and a label holds 63
BOOT = "/run/rookery/boot"
HOME = "/rookery"
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
BOOT_LATER = (
    "# The program that starts the agents of run {run}, with their tokens, for the keeper at {url}.\n"
    "# The keeper writes it when the run is submitted: a dry run has no run, and so no token.\n"
    "import sys\n"
    "sys.exit('This manifest is of a dry run: there is no run behind it.')\n"
)


def check_exportable(run: RunSpec, options: KubernetesOptions, keeper_url: str) -> str:
    """The image of its pods.

    Raises:
        RunConfigError: something is missing that pods need.
    """
    image = options.image or _image_of(run)
    if not image:
        raise RunConfigError(
            "Pods need an image: give image=…, or a base image in the environment's docker section. It must hold Python 3.9 "
            "or newer and what the script imports."
        )
    if not re.match(r"https?://[^/\s]+", keeper_url):
        raise RunConfigError(
            f"keeper_url={keeper_url!r}: pods need the address at which they reach the keeper. Give "
            "keeper_url=http://HOST:PORT; without a port it is the one that the keeper listens at for agents."
        )
    return image


def make_manifests(
    run: RunSpec,
    options: KubernetesOptions,
    keeper_url: str,
    python: str = "python3",
    boot: str = "",
    attempt: int = 1,
    node_count: int = 0,
) -> list[dict[str, Any]]:
    """The Secret and the JobSet, in the order to apply them.

    Args:
        keeper_url: where pods reach the keeper's listener for agents.
        python: of the image; 3.9 or newer.
        boot: the boot program of the run's gang; without one the Secret holds a note instead, and nothing can run.
        attempt: each has objects of its own.
        node_count: of this attempt; 0: the run's.

    Raises:
        RunConfigError: something is missing that pods need.
    """
    image = check_exportable(run, options, keeper_url)
    name = _name_of(run.run_id, attempt)
    count = node_count or run.node_count
    text = boot or BOOT_LATER.format(run=run.run_id, url=keeper_url)
    labels = {"app.kubernetes.io/name": "rookery", "app.kubernetes.io/instance": name}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(f"{name}-boot", options, labels),
        "type": "Opaque",
        "stringData": {"boot.py": text},
    }
    if options.queue:
        labels = {**labels, "kueue.x-k8s.io/queue-name": options.queue}
    metadata = _metadata(name, options, labels)
    metadata["annotations"] = {
        "rookery/run-id": run.run_id,
        "rookery/attempt": str(attempt),
        "rookery/keeper-url": keeper_url,
    }
    job = {
        "parallelism": count,
        "completions": count,
        "completionMode": "Indexed",
        "backoffLimit": 0,  # the keeper decides whether a run is tried again
        "template": {"metadata": {"labels": dict(labels)}, "spec": _pod(name, image, python, options)},
    }
    jobset = {
        "apiVersion": API,
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {
            "network": {"enableDNSHostnames": True, "subdomain": name, "publishNotReadyAddresses": True},
            "failurePolicy": {"maxRestarts": 0},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": [NODES]},
            "replicatedJobs": [{"name": NODES, "replicas": 1, "template": {"spec": job}}],
        },
    }
    return [secret, jobset]


def _pod(name: str, image: str, python: str, options: KubernetesOptions) -> dict[str, Any]:
    limits: dict[str, str] = {}
    if options.cpus:
        limits["cpu"] = options.cpus
    if options.memory:
        limits["memory"] = options.memory
    if options.gpus:
        limits[options.gpu_resource] = str(options.gpus)
    volumes: list[dict[str, Any]] = [
        # Readable in the pod, and nowhere else: the image may run as any user.
        {"name": "boot", "secret": {"secretName": f"{name}-boot", "defaultMode": 0o444}},
        {"name": "home", "emptyDir": {}},
    ]
    mounts: list[dict[str, Any]] = [
        {"name": "boot", "mountPath": BOOT, "readOnly": True},
        {"name": "home", "mountPath": HOME},
    ]
    if options.shared_memory:
        volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": options.shared_memory}})
        mounts.append({"name": "shm", "mountPath": "/dev/shm"})
    container: dict[str, Any] = {
        "name": "agent",
        "image": image,
        # exec: the shell becomes Python, and Python the agent, so that its exit code is the pod's.
        "command": ["/bin/sh", "-c", 'exec "$0" -I - < "$1"', python, f"{BOOT}/boot.py"],
        "env": _variables(name, options),
        "volumeMounts": mounts,
    }
    if limits:
        container["resources"] = {"limits": limits, "requests": dict(limits)}
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 60,  # ranks save their work
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": volumes,
    }
    if options.service_account:
        pod["serviceAccountName"] = options.service_account
    return pod


def _variables(name: str, options: KubernetesOptions) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": "ROOKERY_NODE", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}},
        {"name": "ROOKERY_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "ROOKERY_NODE_ADDRESS", "value": f"{name}-{NODES}-0-$(ROOKERY_NODE).{name}"},
        {"name": "HOME", "value": HOME},
    ]
    if options.cpus:
        reference = {"containerName": "agent", "resource": "limits.cpu"}
        found.append({"name": "ROOKERY_NODE_CPUS", "valueFrom": {"resourceFieldRef": reference}})
    return found


def _metadata(name: str, options: KubernetesOptions, labels: Mapping[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": dict(labels)}
    if options.namespace:
        metadata["namespace"] = options.namespace
    return metadata


def _image_of(run: RunSpec) -> str:
    docker = run.environment.docker or {}
    return str(docker.get("baseImage") or "")


def _name_of(run_id: str, attempt: int) -> str:
    """A run's id as Kubernetes allows names: the end is kept, because that is what tells runs apart."""
    plain = re.sub(r"[^a-z0-9]+", "-", run_id.lower()).strip("-")
    if attempt > 1:
        plain += f"-{attempt}"
    plain = plain[-MAX_NAME:].strip("-")
    return plain if plain[:1].isalpha() else f"r-{plain}"[: MAX_NAME + 2].strip("-")
