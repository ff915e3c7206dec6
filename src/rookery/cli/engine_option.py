"""`--option KEY=VALUE` of an engine: text becomes what the option's field is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Optional

import typer

__all__ = ["parse_options"]

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def parse_options(engine: str, texts: Optional[Sequence[str]], hint: str = "--option") -> dict[str, Any]:
    """As ClusterSpec.options wants them. One that is a list or table is given once for each entry."""
    from rookery.spec import engine_options

    kinds = {
        engine_options.RAY: engine_options.RayOptions,
        engine_options.SLURM: engine_options.SlurmOptions,
        engine_options.SSH: engine_options.SshOptions,
        engine_options.KUBERNETES: engine_options.KubernetesOptions,
    }
    types = {field.name: str(field.type) for field in fields(kinds[engine])}
    found: dict[str, Any] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or key not in types:
            raise typer.BadParameter(
                f"{text!r} is no KEY=VALUE of {engine}. Known: {', '.join(sorted(types))}.", param_hint=hint
            )
        kind = types[key]
        if kind.startswith("tuple"):
            found.setdefault(key, []).append(value)
        elif kind.startswith("dict"):
            found.setdefault(key, {}).update(_table(text, value, hint))
        elif "int" in kind:
            found[key] = _number(text, value, int, hint)
        elif "bool" in kind:
            if value.lower() not in _TRUE + _FALSE:
                raise typer.BadParameter(f"{text!r}: give true or false.", param_hint=hint)
            found[key] = value.lower() in _TRUE
        else:
            found[key] = value
    return found


def _table(text: str, value: str, hint: str) -> dict[str, float]:
    """NAME=AMOUNT, or all of them as JSON."""
    if value.startswith("{"):
        import json

        try:
            return {str(name): float(amount) for name, amount in json.loads(value).items()}
        except (ValueError, TypeError):
            raise typer.BadParameter(f"{text!r}: give NAME=AMOUNT, or JSON.", param_hint=hint) from None
    name, _, amount = value.partition("=")
    return {name: _number(text, amount, float, hint)}


def _number(text: str, value: str, kind: Any, hint: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise typer.BadParameter(f"{text!r}: {value!r} is no number.", param_hint=hint) from None
