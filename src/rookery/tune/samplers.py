"""Which values a child gets. Pure: the same plan, seed and number give the same values, whatever else has happened."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Optional

from rookery.spec.distributions import check_space, value_at
from rookery.spec.tune import TunePlan
from rookery.tune.sobol import sobol_point

__all__ = ["draw", "grid_size", "seed_of"]


def seed_of(plan: TunePlan, run_id: str) -> int:
    """The seed that was given, else one that follows from the run's id."""
    if plan.seed is not None:
        return plan.seed
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:4], "big")


def draw(plan: TunePlan, seed: int, number: int) -> Optional[dict[str, Any]]:
    """The values of the child with this number (from 0), in the order of the space; None when a grid has no more.

    Bayesian sampling is not here: it needs to know how the others went (`tune/bayesian`).
    """
    space = check_space(plan.space)
    if plan.sampler == "grid":
        return _grid(space, number)
    if plan.rule == "sobol":
        point = sobol_point(number, len(space), seed)
    else:
        point = [_evenly(seed, number, name) for name in space]
    return {name: value_at(distribution, u) for (name, distribution), u in zip(space.items(), point)}


def grid_size(plan: TunePlan) -> int:
    """How many combinations a grid has."""
    return math.prod(len(arguments[0]) for _, arguments in check_space(plan.space).values())


def _grid(space: dict[str, Any], number: int) -> Optional[dict[str, Any]]:
    """Combination by combination, the last parameter first; as nested loops over the parameters would."""
    values: dict[str, Any] = {}
    for name, (_, (options,)) in reversed(space.items()):
        number, index = divmod(number, len(options))
        values[name] = options[index]
    return None if number else {name: values[name] for name in space}


def _evenly(seed: int, number: int, name: str) -> float:
    """Of its own for each parameter: one more in the space leaves the values of the others as they are."""
    digest = hashlib.sha256(f"{seed}/{number}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64 * (1.0 - 2.0**-53)
