"""Runs outside the keeper, in an environment with Optuna: a question a line in, an answer a line out. Imports nothing of rookery.

A question has the whole history (`trials`), so a process that was killed is replaced by another and nothing is lost; with the same
question and seed the answer is the same.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

__all__ = ["main", "propose"]


def main() -> None:
    import optuna  # type: ignore[import-not-found,unused-ignore]

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for line in sys.stdin:
        answer: dict[str, Any]
        try:
            answer = {"values": propose(optuna, json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def propose(optuna: Any, question: dict[str, Any]) -> list[dict[str, Any]]:
    """Values for `count` children. Those that still run count as if they went badly, so that they are not proposed again."""
    space = question["space"]
    distributions = {name: _distribution(optuna, *given) for name, given in space.items()}
    sampler = optuna.samplers.TPESampler(seed=question["seed"] % 2**32, constant_liar=True, multivariate=True)
    study = optuna.create_study(direction=question["goal"], sampler=sampler)
    for trial in question["trials"]:
        _tell(optuna, study, distributions, space, trial)
    found = []
    for _ in range(question["count"]):
        params = study.ask(distributions).params
        found.append({name: _value(space[name], params[name]) for name in space})
    return found


def _distribution(optuna: Any, name: str, arguments: list[Any]) -> Any:
    if name == "choice":
        return optuna.distributions.CategoricalDistribution(list(range(len(arguments[0]))))
    return optuna.distributions.FloatDistribution(float(arguments[0]), float(arguments[1]))


def _value(given: list[Any], param: Any) -> Any:
    name, arguments = given
    if name == "choice":
        return arguments[0][param]
    return round(param / arguments[2]) * arguments[2] if name == "quniform" else param


def _tell(optuna: Any, study: Any, distributions: Any, space: dict[str, Any], trial: dict[str, Any]) -> None:
    values = trial["values"]
    params = {name: _param(given, values.get(name)) for name, given in space.items()}
    if any(param is None for param in params.values()):
        return  # of an earlier tuning with another space
    states, result = optuna.trial.TrialState, trial["result"]
    is_number = result is not None and math.isfinite(result)
    state = states.RUNNING if trial["is_live"] else states.COMPLETE if is_number else states.FAIL
    made = optuna.trial.create_trial(
        params=params,
        distributions=distributions,
        state=state,
        value=result if state is states.COMPLETE else None,
    )
    study.add_trial(made)


def _param(given: list[Any], value: Any) -> Any:
    name, arguments = given
    if name == "choice":
        return arguments[0].index(value) if value in arguments[0] else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return min(max(float(value), float(arguments[0])), float(arguments[1]))


if __name__ == "__main__":
    main()
