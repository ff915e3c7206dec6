"""Distributions of hyperparameters, as v1 spells them: each function gives `[name, [arguments]]`."""

from __future__ import annotations

from typing import Any

from rookery.spec.distributions import check_distribution

__all__ = [
    "choice",
    "lognormal",
    "loguniform",
    "normal",
    "qlognormal",
    "qloguniform",
    "qnormal",
    "quniform",
    "randint",
    "uniform",
]


def choice(*options: Any) -> list[Any]:
    """One of the options, all equally likely: `choice(16, 32)`, `choice([16, 32])` or `choice(range(1, 5))`."""
    if len(options) == 1 and isinstance(options[0], (list, tuple, range)):
        return _expression("choice", list(options[0]))
    return _expression("choice", list(options))


def randint(upper: int) -> list[Any]:
    """A whole number from 0 to `upper` - 1."""
    return _expression("randint", upper)


def uniform(min_value: float, max_value: float) -> list[Any]:
    """A number between the two, all equally likely."""
    return _expression("uniform", min_value, max_value)


def quniform(min_value: float, max_value: float, q: float) -> list[Any]:
    """`round(uniform(min_value, max_value) / q) * q`."""
    return _expression("quniform", min_value, max_value, q)


def loguniform(min_value: float, max_value: float) -> list[Any]:
    """`exp(uniform(min_value, max_value))`: the bounds are logarithms."""
    return _expression("loguniform", min_value, max_value)


def qloguniform(min_value: float, max_value: float, q: float) -> list[Any]:
    """`round(exp(uniform(min_value, max_value)) / q) * q`."""
    return _expression("qloguniform", min_value, max_value, q)


def normal(mu: float, sigma: float) -> list[Any]:
    """Normally distributed around `mu`, with the standard deviation `sigma`."""
    return _expression("normal", mu, sigma)


def qnormal(mu: float, sigma: float, q: float) -> list[Any]:
    """`round(normal(mu, sigma) / q) * q`."""
    return _expression("qnormal", mu, sigma, q)


def lognormal(mu: float, sigma: float) -> list[Any]:
    """`exp(normal(mu, sigma))`."""
    return _expression("lognormal", mu, sigma)


def qlognormal(mu: float, sigma: float, q: float) -> list[Any]:
    """`round(exp(normal(mu, sigma)) / q) * q`."""
    return _expression("qlognormal", mu, sigma, q)


def _expression(name: str, *arguments: Any) -> list[Any]:
    made = [name, [_plain(value) for value in arguments]]
    check_distribution(made, f"{name}({', '.join(map(repr, arguments)):.200})")
    return made


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's: the space travels as JSON."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value
