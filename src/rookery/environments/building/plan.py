"""From a specification to a request: everything decided that costs no subprocess. Equal requests have equal
names.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from rookery.environments.building.lock import BUILDER_VERSION, platform_tag
from rookery.environments.building.policy import Policy
from rookery.environments.conda.channels import channel_urls, read_conda_config, without_secret
from rookery.environments.conda.choice import CONDA_CHOICE, uses_conda
from rookery.environments.conda.solve import needs_conda
from rookery.environments.python.interpreters import Choice, choose, installed
from rookery.environments.python.pip_config import PipConfig, read_pip_config
from rookery.environments.python.torch_choice import TorchPins, pin_torch
from rookery.environments.specification.conda_names import without_conda
from rookery.environments.specification.requirement import mask
from rookery.environments.specification.shimmed import without_shimmed
from rookery.environments.specification.wanted import Wanted, from_conda
from rookery.errors import EnvironmentBuildError
from rookery.spec.run import EnvironmentSpec

__all__ = ["Plan", "make_plan", "plan_names", "wanted_of"]


@dataclass(frozen=True)
class Plan:
    """`request` names the resolution: the same wish, indexes, constraints and interpreter give the same one."""

    wanted: Wanted
    choice: Choice
    config: PipConfig
    pins: TorchPins
    request: str
    name: str

    @property
    def deviations(self) -> tuple[str, ...]:
        return ((self.choice.deviation,) if self.choice.deviation else ()) + self.wanted.deviations


def wanted_of(spec: Wanted | EnvironmentSpec, policy: Policy) -> Wanted:
    """What a run's environment asks for."""
    if isinstance(spec, Wanted):
        return spec
    from rookery.record.wheels import wheels_folder  # on a node, which is given a lock, there is no record

    return from_conda(spec.conda or {}, policy.requirement_sources, wheels_folder())


def make_plan(spec: Wanted | EnvironmentSpec, policy: Policy, probe: bool = True) -> Plan:
    """Decide on names, interpreter, indexes and pins.

    Args:
        probe: interpreters that were never seen may be started to learn their version.

    Raises:
        UserError: the specification is refused.
        EnvironmentBuildError: no interpreter fits, or packages are asked for that only conda has.
    """
    wanted = plan_names(spec, policy)
    config = read_pip_config().with_options(wanted.options)
    if needs_conda(wanted, policy.conda):
        choice, pins = CONDA_CHOICE, TorchPins()  # both are decided when the channels have been asked
        return Plan(wanted, choice, config, pins, _request(wanted, choice, config, pins), wanted.name)
    choice = choose(wanted.python, installed(probe), policy.allow_python_drift)
    pins = TorchPins() if wanted.locked else pin_torch(wanted.pip, config.find_links_folders(), choice.interpreter)
    return Plan(wanted, choice, config, pins, _request(wanted, choice, config, pins), wanted.name)


def plan_names(spec: Wanted | EnvironmentSpec, policy: Policy) -> Wanted:
    """What conda and pip are to install, under a name for people. Without conda where the index has all of it.

    Raises:
        UserError: the specification is refused.
        EnvironmentBuildError: it asks for packages that only conda has.
    """
    given = wanted_of(spec, policy)
    wanted = without_shimmed(given, policy.original_packages)
    name = (spec.name if isinstance(spec, EnvironmentSpec) else given.name) or "environment"
    if needs_conda(wanted, policy.conda):
        return replace(wanted, name=name)
    wanted = without_conda(wanted)
    if wanted.conda:
        raise EnvironmentBuildError(
            f"Environment '{name}': only conda has {', '.join(d.text for d in wanted.conda)}, and the "
            "setting conda=never forbids it. Ask for packages of the index under `pip:`, or set "
            "`env.python.user_managed_dependencies = True` with an "
            "interpreter that has them."
        )
    return replace(wanted, name=name)


def _request(wanted: Wanted, choice: Choice, config: PipConfig, pins: TorchPins) -> str:
    python = choice.interpreter
    values = {
        "builder": BUILDER_VERSION,
        "platform": platform_tag(),
        "python": [wanted.python, python.path, python.version, python.build, python.stamp, choice.deviation],
        "pip": [mask(r.text) for r in wanted.pip],
        "files": [_stamp(r.url) for r in wanted.pip if r.url.startswith("file:")],
        "constraints": wanted.constraints,
        "locked": wanted.locked,
        "said": wanted.deviations + wanted.notes,
        "config": config.fingerprint(os.environ),
        "pins": pins.constraints,
        "conda": _conda(wanted) if uses_conda(choice) else None,
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def _conda(wanted: Wanted) -> list[object]:
    config = read_conda_config()
    channels = [without_secret(u) for u in channel_urls(wanted.channels, config)]
    return [[d.text for d in wanted.conda], channels, config.priority, config.alias]


def _stamp(url: str) -> str:
    """A local archive may change under the same name."""
    try:
        about = os.stat(unquote(urlsplit(url).path))
    except OSError:
        return "missing"
    return f"{about.st_mtime_ns}:{about.st_size}"
