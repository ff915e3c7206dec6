"""Running a run again as it was: what would be the same, what would differ, and the RunSpec that does it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.server.services import Services
from rookery.spec.names import new_guid, new_run_id
from rookery.spec.plain import from_plain
from rookery.spec.run import RunKind, RunSpec, check_run_spec

__all__ = ["REPRODUCES", "Reproduction", "look_again"]

REPRODUCES = "rookery.reproduces"


@dataclass
class Reproduction:
    """`spec` is None when it cannot be; then `why_not` says why."""

    spec: Optional[RunSpec] = None
    why_not: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)

    def differs(self, what: str, then: Any, now: Any, matters: bool) -> None:
        self.differences.append({"what": what, "then": then, "now": now, "matters": matters})


def look_again(
    services: Services, run: dict[str, Any], *, compute: Optional[str] = None, arguments: Optional[list[str]] = None
) -> Reproduction:
    """What running it again now would come to; nothing is started."""
    found = Reproduction()
    if run["kind"] not in (RunKind.SCRIPT, RunKind.TUNE):
        found.why_not.append(
            f"The run is of kind {run['kind']}: its process was started by somebody else, so it cannot be started again here."
        )
        return found
    spec = from_plain(RunSpec, run["spec"])
    if (spec.plan or {}).get("pipeline"):  # its steps have all that; whether they can be run the driver says below
        found.same.append("the pipeline and what is sampled")
    else:
        _look_at_source(services, spec, found)
        _look_at_arguments(spec, arguments, found)
        _look_at_environment(services, run, spec, found)
        _look_at_compute(services, spec, compute or spec.compute, found)
    _look_at_secrets(services, run, spec, found)
    if found.why_not:
        return found
    again = replace(
        spec,
        run_id=f"HD_{new_guid()}" if spec.kind == RunKind.TUNE else new_run_id(spec.experiment),
        parent_id=None,
        compute=compute or spec.compute,
        target="" if compute else spec.target,
        arguments=spec.arguments if arguments is None else tuple(arguments),
        properties={**spec.properties, REPRODUCES: run["id"]},
    )
    try:
        found.spec = check_run_spec(again)
        services.controller.check(found.spec)
    except RookeryError as error:
        found.spec = None
        found.why_not.append(error.message)
    return found


def _look_at_source(services: Services, spec: RunSpec, found: Reproduction) -> None:
    if spec.snapshot_id is None:
        found.same.append("no source folder, as then")
    elif services.record.snapshots.exists(spec.snapshot_id):
        found.same.append(f"the source folder (snapshot {spec.snapshot_id[:12]})")
    else:
        found.why_not.append(
            f"Its snapshot {spec.snapshot_id[:12]} is gone: it was collected. Submit the folder again."
        )


def _look_at_arguments(spec: RunSpec, arguments: Optional[list[str]], found: Reproduction) -> None:
    then = spec.command if spec.command else " ".join([spec.script or "", *spec.arguments])
    if arguments is None or tuple(arguments) == spec.arguments:
        found.same.append(f"the command ({str(then)[:200]})")
    elif spec.command:
        found.why_not.append("It was submitted as a command, so it has no arguments to change.")
    else:
        found.differs("arguments", list(spec.arguments), list(arguments), True)


def _look_at_environment(services: Services, run: dict[str, Any], spec: RunSpec, found: Reproduction) -> None:
    built = (services.record.runs.state(run["id"]) or {}).get("built") or {}
    software, key = spec.environment, built.get("key")
    if software.user_managed or (software.conda is None and software.docker is None):
        python = built.get("python") or software.python
        if os.path.isabs(python) and not os.path.exists(python) and spec.compute == "local":
            found.differs("interpreter", python, None, True)
            found.why_not.append(
                f"Its interpreter {python} is gone. Make it again, or submit with another environment."
            )
        else:
            found.same.append(f"the interpreter ({python}); what is installed in it is not recorded")
        return
    from rookery.engine.builds import plain_built
    from rookery.environments import prepared

    try:
        now = prepared(software)
    except RookeryError as error:
        found.differs("environment", key, error.message, True)
        return
    now_key = None if now is None else plain_built(now)["key"]
    if key and now_key == key:
        found.same.append(f"the environment ({software.name}, {key[:12]})")
    elif now_key is None:
        found.differs(
            "environment", key, "not built here now: it is built again, from its lock where that is kept", False
        )
    else:
        found.differs("environment", key, now_key, True)


def _look_at_compute(services: Services, spec: RunSpec, compute: str, found: Reproduction) -> None:
    if compute != spec.compute:
        found.differs("compute", spec.compute, compute, True)
    try:
        target = services.controller.compute(compute)
    except RookeryError as error:
        found.why_not.append(error.message)
        return
    if target.get("problem"):
        found.differs("compute", "usable", target["problem"], True)
    elif compute == spec.compute:
        found.same.append(f"the compute target ({compute}, {spec.node_count} × {spec.processes_per_node} processes)")


def _look_at_secrets(services: Services, run: dict[str, Any], spec: RunSpec, found: Reproduction) -> None:
    if not spec.secrets:
        return
    missing = sorted(set(spec.secrets) - set(services.record.secrets.of_run(run["id"])))
    if missing:
        found.why_not.append(
            f"The value of its secret variable '{missing[0]}' is not kept any more. Submit it again with one."
        )
    else:
        found.same.append(f"{len(spec.secrets)} secret variable{'s' if len(spec.secrets) > 1 else ''}")
