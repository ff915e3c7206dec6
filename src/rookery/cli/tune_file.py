"""What `rookery tune` is asked for, from a YAML file or from options."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from rookery.cli.submission import Request
from rookery.errors import UserError

__all__ = ["TuneRequest", "build_tune_config", "read_tune_file"]

# key of the file → what it is
_KEYS = {
    "script": str, "command": str, "arguments": list, "source": str, "compute": str, "experiment": str, "name": str,
    "environment": str, "python": str, "variables": dict, "tags": dict, "nodes": int, "processes_per_node": int, "metric": str,
    "goal": str, "parameters": dict, "sampler": str, "seed": int, "policy": (str, dict), "max_total_runs": int, "max_concurrent_runs": int,
    "max_duration_minutes": (int, float), "resume_from": list,
}  # fmt: skip


@dataclass(frozen=True)
class TuneRequest:
    """One tuning as asked for; `run` is what each child runs."""

    run: Request
    metric: str = ""
    goal: str = "maximize"
    parameters: dict[str, Any] = field(default_factory=dict)
    sampler: str = "random"
    seed: Optional[int] = None
    policy: Any = None
    max_total_runs: int = 20
    max_concurrent_runs: Optional[int] = None
    max_duration_minutes: Optional[float] = None
    resume_from: tuple[str, ...] = ()


def read_tune_file(path: str) -> TuneRequest:
    """
    Raises:
        UserError: it cannot be read, or says something that is not known.
    """
    from rookery.spec.safe_yaml import load_yaml, read_text

    data = load_yaml(read_text(path), path)
    if not isinstance(data, dict):
        raise UserError(f"{path} holds no mapping. It says what to run and how: script, metric, parameters …")
    for key, value in data.items():
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise UserError(f"{path}: {key!r} is not known. {hint}Known: {', '.join(_KEYS)}.")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise UserError(f"{path}: {key} is {value!r:.60}, which is no {_kind(_KEYS[key])}.")
    folder = os.path.join(os.path.dirname(os.path.abspath(path)), data.get("source", "."))
    run = Request(
        folder=os.path.normpath(folder),
        script=data.get("script"),
        arguments=tuple(str(one) for one in data.get("arguments", ())),
        command=data.get("command"),
        compute=data.get("compute", "local"),
        experiment=data.get("experiment"),
        name=data.get("name"),
        python=data.get("python"),
        env=data.get("environment"),
        variables={str(key): str(value) for key, value in data.get("variables", {}).items()},
        tags={str(key): str(value) for key, value in data.get("tags", {}).items()},
        nodes=data.get("nodes", 1),
        processes_per_node=data.get("processes_per_node", 1),
    )
    names = ("metric", "goal", "parameters", "sampler", "seed", "policy", "max_total_runs", "max_concurrent_runs", "max_duration_minutes")  # fmt: skip
    given = {name: data[name] for name in names if name in data}
    return replace(TuneRequest(run, resume_from=tuple(map(str, data.get("resume_from", ())))), **given)


def build_tune_config(request: TuneRequest) -> Any:
    """The SDK's HyperDriveConfig for it."""
    from rookery.cli.submission import build_config
    from rookery.sdk.hyperdrive_config import HyperDriveConfig, PrimaryMetricGoal
    from rookery.sdk.tune_text import make_policy, make_sampling, parse_distribution, parse_policy

    space = {name: parse_distribution(given, f"parameter '{name}'") for name, given in request.parameters.items()}
    policy = request.policy
    if isinstance(policy, dict):
        options = dict(policy)
        if "kind" not in options:
            raise UserError(
                f"policy has no kind. Write it as in {{kind: bandit, slack_factor: 0.1}}, not {policy!r:.80}."
            )
        policy = make_policy(str(options.pop("kind")), options)
    elif policy is not None:
        policy = parse_policy(policy)
    limits: dict[str, Any] = (
        {} if request.max_duration_minutes is None else {"max_duration_minutes": request.max_duration_minutes}
    )
    return HyperDriveConfig(
        make_sampling(request.sampler, space, request.seed),
        request.metric,
        PrimaryMetricGoal.from_str(request.goal),
        request.max_total_runs,
        request.max_concurrent_runs,
        policy=policy,
        run_config=build_config(request.run),
        resume_from=list(request.resume_from),
        **limits,
    )


def _kind(kinds: Any) -> str:
    words = {str: "text", list: "list", dict: "mapping", int: "whole number", float: "number"}
    return " or ".join(words[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
