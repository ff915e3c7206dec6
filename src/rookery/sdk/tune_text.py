"""Distributions and policies as people type them: `loguniform(-7, -2)`, `bandit(slack_factor=0.1, delay_evaluation=5)`."""

from __future__ import annotations

import ast
import difflib
from typing import Any

from rookery.errors import TuneConfigError, UserError
from rookery.sdk import parameter_expressions
from rookery.sdk.policy import (
    AshaPolicy,
    BanditPolicy,
    EarlyTerminationPolicy,
    MedianStoppingPolicy,
    NoTerminationPolicy,
    TruncationSelectionPolicy,
)
from rookery.sdk.sampling import (
    BayesianParameterSampling,
    GridParameterSampling,
    HyperParameterSampling,
    RandomParameterSampling,
)
from rookery.spec.tune import POLICIES as OPTIONS

__all__ = ["POLICIES", "SAMPLERS", "make_policy", "make_sampling", "parse_distribution", "parse_policy"]

POLICIES: dict[str, Any] = {
    "none": NoTerminationPolicy,
    "bandit": BanditPolicy,
    "median": MedianStoppingPolicy,
    "truncation": TruncationSelectionPolicy,
    "asha": AshaPolicy,
}
SAMPLERS: dict[str, Any] = {
    "random": RandomParameterSampling,
    "sobol": RandomParameterSampling,
    "grid": GridParameterSampling,
    "bayesian": BayesianParameterSampling,
}


def parse_distribution(given: Any, where: str) -> list[Any]:
    """`choice(16, 32)` as text; a list is a choice of its items, a number the only choice.

    Raises:
        TuneConfigError: it is none.
    """
    if isinstance(given, (list, tuple)):
        return parameter_expressions.choice(list(given))
    if not isinstance(given, str):
        return parameter_expressions.choice(given)
    name, arguments, named = _parse_call(given, where)
    if name not in parameter_expressions.__all__:
        unknown = _unknown("distribution", name, list(parameter_expressions.__all__))
        raise TuneConfigError(f"{where}: {unknown} A value that stays the same is choice({given!r:.40}).")
    try:
        made: list[Any] = getattr(parameter_expressions, name)(*arguments, **named)
        return made
    except (TypeError, UserError) as error:
        raise TuneConfigError(f"{where}: {given!r:.80}: {error}") from None


def parse_policy(given: Any, where: str = "policy") -> EarlyTerminationPolicy:
    """`bandit(slack_factor=0.1)` as text.

    Raises:
        TuneConfigError: it is none.
    """
    name, arguments, named = _parse_call(str(given), where)
    if arguments:
        raise TuneConfigError(f"{where}: give options by name, as in bandit(slack_factor=0.1), not {given!r:.80}.")
    return make_policy(name, named, where)


def make_policy(name: str, options: dict[str, Any], where: str = "policy") -> EarlyTerminationPolicy:
    if name not in POLICIES:
        raise TuneConfigError(f"{where}: {_unknown('policy', name, list(POLICIES))}")
    known = list(OPTIONS[name])
    for option in options:
        if option not in known:
            raise TuneConfigError(f"{where}: {_unknown(f'option of {name}', str(option), known)}")
    try:
        made: EarlyTerminationPolicy = POLICIES[name](**options)
        return made
    except TypeError as error:
        raise TuneConfigError(f"{where}: {name}: {error}.") from None


def make_sampling(name: str, space: dict[str, Any], seed: Any = None) -> HyperParameterSampling:
    """random, sobol, grid or bayesian."""
    if name not in SAMPLERS:
        raise TuneConfigError(_unknown("sampler", name, list(SAMPLERS)))
    properties = {} if seed is None else {"seed": seed}
    if name == "sobol":
        properties["rule"] = "sobol"
    made: HyperParameterSampling = SAMPLERS[name](space, properties)
    return made


def _parse_call(text: str, where: str) -> tuple[str, list[Any], dict[str, Any]]:
    """name, arguments and options of `name(1, 2, key=3)`; nothing is evaluated but literals."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, [], {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            named = {word.arg: ast.literal_eval(word.value) for word in tree.keywords if word.arg}
            return tree.func.id, [ast.literal_eval(value) for value in tree.args], named
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    hint = " In a YAML file, inside of {…}, put it in quotes." if text.count("(") > text.count(")") else ""
    example = "bandit(slack_factor=0.1)" if where == "policy" else "uniform(0.001, 0.1) or choice(16, 32)"
    raise TuneConfigError(f"{where}: {text!r:.80} cannot be read. Write it as in {example}.{hint}")


def _unknown(what: str, given: str, known: list[str]) -> str:
    near = difflib.get_close_matches(given, known, n=1)
    return f"{what} {given!r:.40} does not exist. Known: {', '.join(known) or 'none'}." + (
        f" Did you mean {near[0]}?" if near else ""
    )
