"""What may be wrong with a node that is a module: its card, parameters, arguments, and where it is to run. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Optional

from rookery.errors import RookeryError
from rookery.pipeline.arguments import check_arguments
from rookery.pipeline.catalog import Card, named_card, unknown_module
from rookery.spec.pipeline import Problem, substitute

__all__ = ["card_arguments", "card_parameters", "no_card", "run_settings"]


def no_card(key: str, name: str, node: dict[str, Any], cards: dict[str, Card]) -> Problem:
    given = node.get("module")
    if not isinstance(given, str) or not given:
        message = f"'{name}' names no module. Say `module: NAME`; `rookery module list` names them."
        return Problem("missing_parameter", message, key, "module")
    if named_card(given, cards) is not None:
        return Problem("unknown_version", unknown_module(given, cards, node.get("version")), key, "version")
    return Problem("unknown_module", unknown_module(given, cards), key, "module")


def card_parameters(key: str, node: dict[str, Any], card: Card, values: dict[str, Any]) -> Iterable[Problem]:
    given = node.get("parameters") or {}
    if not isinstance(given, dict):
        yield Problem("shape", "`parameters` of a node is an object: {name: value}.", key, "parameters")
        return
    for name in given:
        if name not in card.parameters:
            near = difflib.get_close_matches(str(name), list(card.parameters), 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"It has: {', '.join(card.parameters) or 'none'}."
            yield Problem("unknown_parameter", f"{card.title} has no parameter '{name!s:.80}'. {hint}", key, str(name))
    resolved = {name: substitute(value, values) for name, value in given.items()}
    for name, parameter in card.parameters.items():
        if name not in resolved:
            if parameter.is_required and _counts(parameter, card, resolved):
                allowed = f" Allowed: {', '.join(parameter.choices)}." if parameter.choices else ""
                message = f"Parameter '{parameter.label}' of {card.title} is missing.{allowed}"
                yield Problem("missing_parameter", message, key, name)
            continue
        try:
            parameter.check(resolved[name])
        except Exception as error:  # the documented errors of modules, whose base is no RookeryError
            code = "missing_parameter" if type(error).__name__ == "NullOrEmptyError" else "bad_parameter"
            yield Problem(code, str(error), key, name)


def _counts(parameter: Any, card: Card, given: dict[str, Any]) -> bool:
    """Whether a parameter that depends on another one counts with what is given."""
    if parameter.when is None:
        return True
    other, wanted = parameter.when
    default = card.parameters[other].default if other in card.parameters else None
    return bool(given.get(other, default) == wanted)


def card_arguments(key: str, name: str, node: dict[str, Any], card: Card, values: dict[str, Any]) -> Iterable[Problem]:
    inputs, outputs = ([port["name"] for port in each] for each in (card.inputs, card.outputs))
    try:
        check_arguments(f"'{name}'", substitute(node.get("arguments"), values), inputs, outputs, card.parameters)
    except RookeryError as error:
        yield Problem("bad_parameter", error.message, key, "arguments")


def run_settings(
    key: str,
    name: str,
    node: dict[str, Any],
    graph: dict[str, Any],
    computes: dict[str, int],
    values: dict[str, Any],
    card: Optional[Card],
) -> Iterable[Problem]:
    settings = substitute(node.get("run_settings") or {}, values)
    if not isinstance(settings, dict):
        yield Problem("shape", "`run_settings` of a node is an object.", key, "run_settings")
        return
    compute = settings.get("compute") or substitute(graph.get("default_compute"), values) or "local"
    if settings.get("compute") and computes and compute not in computes:
        message = f"'{name}': there is no compute target '{compute!s:.80}'. Known: {', '.join(computes)}."
        yield Problem("unknown_compute", message, key, "compute")
    counts = {}
    for what in ("node_count", "process_count_per_node"):
        value = settings.get(what)
        counts[what] = 1 if value is None else value
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            yield Problem(
                "bad_run_settings", f"'{name}': {what} is {value!r:.40}. Give a whole number from 1.", key, what
            )
            return
    most = computes.get(compute, 0) if isinstance(compute, str) else 0
    if most and counts["node_count"] > most:
        message = f"'{name}' asks for {counts['node_count']} nodes; compute target '{compute}' has {most} at most."
        yield Problem("bad_run_settings", message, key, "node_count")
    if card and not card.distributed and counts["node_count"] * counts["process_count_per_node"] > 1:
        message = f"{card.title} runs as one process; node_count and process_count_per_node must be 1."
        yield Problem("bad_run_settings", message, key, "process_count_per_node")
