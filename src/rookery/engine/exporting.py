"""A run that waits for Kubernetes as the manifests that start its agents."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from rookery.engine.ground import keeper_address
from rookery.engine.live import Live
from rookery.engine.placement import JobMaker
from rookery.errors import ConflictError, UserError
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import KUBERNETES, KubernetesOptions, read_options
from rookery.spec.jobset import check_exportable, make_manifests
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import RunSpec

__all__ = ["check_export", "exported_reach", "make_export"]


def exported_reach(spec: ClusterSpec) -> ClusterSpec:
    """What pods see is known without asking one: nothing of ours but the keeper's address."""
    reach = replace(spec.reach, transport="http", shared_files=False, shared_environments=False)
    return replace(spec, reach=reach)


def check_export(spec: RunSpec, cluster: ClusterSpec) -> None:
    """Raise RunConfigError for a run of which no manifests could be made."""
    check_exportable(spec, _options(cluster), cluster.reach.keeper_url)


def make_export(live: Live, jobs: JobMaker, paths: WorkspacePaths) -> dict[str, Any]:
    """`{"attempt", "manifests"}` of the present attempt, with a token for its agents. Not for the controller's thread.

    Raises:
        UserError: its target is no Kubernetes.
        ConflictError: it does not wait for its agents yet.
    """
    cluster, state = jobs.spec_of(live.spec.compute), live.state
    if cluster is None or cluster.engine != KUBERNETES:
        raise UserError(
            f"Run '{live.run_id}' is on '{live.spec.compute}', which is no Kubernetes: there is nothing to export. Submit it "
            "with `rookery run --compute k8s --export FILE`."
        )
    places = [jobs.place(live, node) for node in range(len(state.nodes))]
    if not places or not all(os.path.exists(place.paths.job) for place in places):
        raise ConflictError(
            f"Run '{live.run_id}' is {state.status}: it has manifests once it waits for its agents. Try again.",
            details={"status": str(state.status)},
        )
    made = make_manifests(
        live.spec,
        _options(cluster),
        keeper_address(paths, cluster.reach).url,
        cluster.reach.python,
        jobs.boot(places),
        state.attempt,
        len(places),
    )
    return {"attempt": state.attempt, "manifests": made}


def _options(cluster: ClusterSpec) -> KubernetesOptions:
    options = read_options(cluster.engine, cluster.options)
    assert isinstance(options, KubernetesOptions)
    return options
