"""Distributions that hyperparameters are drawn from: `[name, [arguments]]` as data, and the value at a point of [0, 1).

Every distribution is its inverse: `value_at(distribution, u)` for an evenly spread `u`. So random and quasi-random samplers share it.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from rookery.errors import UserError

__all__ = ["CHOICE", "DISTRIBUTIONS", "Distribution", "check_distribution", "check_space", "value_at"]

CHOICE = "choice"
# name → what its arguments are called
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    CHOICE: ("options",),
    "randint": ("upper",),
    "uniform": ("min_value", "max_value"),
    "quniform": ("min_value", "max_value", "q"),
    "loguniform": ("min_value", "max_value"),
    "qloguniform": ("min_value", "max_value", "q"),
    "normal": ("mu", "sigma"),
    "qnormal": ("mu", "sigma", "q"),
    "lognormal": ("mu", "sigma"),
    "qlognormal": ("mu", "sigma", "q"),
}
Distribution = tuple[str, tuple[Any, ...]]

_SMALLEST = 2.0**-53  # the inverse of a normal distribution has no value at 0
_LARGEST_EXPONENT = 700.0  # exp of more than this is no number
_MOST_OPTIONS = 10_000


def check_space(space: Any) -> dict[str, Distribution]:
    """Every parameter of a search space with its distribution.

    Raises:
        UserError: it is empty, or one of them is no distribution; says which.
    """
    if not isinstance(space, dict) or not space:
        raise UserError(
            "The parameter space is empty or no dictionary. Give {'--learning_rate': uniform(0.001, 0.1), …}."
        )
    named = {}
    for name, given in space.items():
        if not isinstance(name, str) or not name.strip("-") or len(name) > 250 or any(c.isspace() for c in name):
            raise UserError(
                f"{name!r:.80} cannot be a parameter's name: it becomes an argument of the script, so it is a text without "
                "blanks, with or without '--' in front."
            )
        named[name] = check_distribution(given, f"parameter '{name}'")
    plain = [name.lstrip("-") for name in named]
    twice = next((name for name in plain if plain.count(name) > 1), None)
    if twice:
        raise UserError(f"Parameter '{twice}' is in the space twice, with and without dashes. Give it once.")
    return named


def check_distribution(given: Any, where: str = "A distribution") -> Distribution:
    """The distribution that `[name, [arguments]]` says.

    Raises:
        UserError: it says none.
    """
    if not isinstance(given, (list, tuple)) or len(given) != 2 or not isinstance(given[0], str):
        raise UserError(
            f"{where} is {given!r:.100}. Give one of {', '.join(DISTRIBUTIONS)}, such as uniform(0.1, 0.9)."
        )
    name, arguments = given[0], given[1]
    if name not in DISTRIBUTIONS:
        raise UserError(f"{where}: distribution {name!r:.40} does not exist. Known: {', '.join(DISTRIBUTIONS)}.")
    if not isinstance(arguments, (list, tuple)):
        raise UserError(f"{where}: the arguments of {name} are {arguments!r:.80}. Give a list.")
    if name == CHOICE:
        return CHOICE, _check_options(arguments, where)
    wanted = DISTRIBUTIONS[name]
    if len(arguments) != len(wanted):
        raise UserError(
            f"{where}: {name}({', '.join(map(str, arguments))}) has {len(arguments)} arguments. It takes {', '.join(wanted)}."
        )
    values = tuple(_number(value, f"{where}: {name}.{what}") for value, what in zip(arguments, wanted))
    _check_numbers(name, values, where)
    return name, values


def value_at(distribution: Distribution, u: float) -> Any:
    """The value below which a share `u` of all values lies, 0 <= u < 1."""
    name, arguments = distribution
    if name == CHOICE:
        options = arguments[0]
        return options[min(int(u * len(options)), len(options) - 1)]
    if name == "randint":
        return min(int(u * arguments[0]), arguments[0] - 1)
    first, second = arguments[0], arguments[1]
    if name.endswith("uniform"):
        value = first + u * (second - first)
    else:
        value = NormalDist(first, second).inv_cdf(max(u, _SMALLEST)) if second > 0 else float(first)
    if "log" in name:
        value = math.exp(min(value, _LARGEST_EXPONENT))
    return round(value / arguments[2]) * arguments[2] if name.startswith("q") else value


def _check_options(arguments: Any, where: str) -> tuple[Any, ...]:
    if len(arguments) != 1 or not isinstance(arguments[0], (list, tuple)):
        raise UserError(f"{where}: choice takes one list of options, not {arguments!r:.80}.")
    options = tuple(arguments[0])
    if not options:
        raise UserError(f"{where}: choice() has no options. Give at least one.")
    if len(options) > _MOST_OPTIONS:
        raise UserError(
            f"{where}: choice has {len(options)} options; {_MOST_OPTIONS} are allowed. Use randint or uniform."
        )
    return (options,)


def _check_numbers(name: str, values: tuple[Any, ...], where: str) -> None:
    if name == "randint":
        if not isinstance(values[0], int) or values[0] < 1:
            raise UserError(
                f"{where}: randint({values[0]}) has no value. The upper bound is a whole number, 1 or more."
            )
        return
    if name.endswith("uniform") and not values[0] < values[1]:
        raise UserError(f"{where}: {name}({values[0]}, {values[1]}): min_value must be below max_value.")
    if name.endswith("normal") and not values[1] > 0:
        raise UserError(f"{where}: {name}({values[0]}, {values[1]}): sigma must be above 0.")
    if "loguniform" in name and values[1] > _LARGEST_EXPONENT:
        raise UserError(
            f"{where}: {name} takes the logarithms of its bounds, and exp({values[1]}) is no number. "
            f"Give log({values[1]}) = {math.log(values[1]):.4g}?"
        )
    if name.startswith("q") and not values[2] > 0:
        raise UserError(f"{where}: {name}: q={values[2]} must be above 0; values are multiples of it.")


def _number(value: Any, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UserError(f"{where} is {value!r:.40}. Give a number.")
    return value
