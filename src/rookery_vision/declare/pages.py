"""A card as rows of a Markdown table: what docs/vision.md has to say of a module."""

from __future__ import annotations

from rookery_vision.declare.card import Module
from rookery_vision.declare.parameters import Parameter

__all__ = ["allowed", "module_rows"]


def module_rows(card: Module) -> list[str]:
    """The table of its ports and parameters."""
    rows = ["| option | what | allowed | default | |", "|---|---|---|---|---|"]
    for kind, ports in (("in", card.inputs), ("out", card.outputs)):
        for port in ports:
            types = " or ".join(port.types) + (", optional" if port.is_optional else "")
            rows.append(f"| `{port.option}` | {kind}: {port.label} | {types} | | {port.help} |")
    for parameter in card.parameters:
        default = "" if parameter.is_required else f"`{parameter.default!r}`"
        rows.append(
            f"| `{parameter.option}` | {parameter.label} | {allowed(parameter)} | {default} | {parameter.help} |"
        )
    return rows


def allowed(parameter: Parameter) -> str:
    """Kind and bounds in a few characters."""
    if parameter.choices:
        return ", ".join(parameter.choices)
    bounds = [
        f"> {parameter.above}" if parameter.above is not None else "",
        f"≥ {parameter.low}" if parameter.low is not None else "",
        f"≤ {parameter.high}" if parameter.high is not None else "",
    ]
    return " ".join([parameter.kind, *(b for b in bounds if b)])
