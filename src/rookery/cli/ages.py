"""How long ago, as people type it: 90s, 30m, 12h, 30d, 2w."""

from __future__ import annotations

import re

import typer

__all__ = ["parse_age"]

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_age(option: str, text: str) -> float:
    """Seconds."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([smhdw])", text.strip().lower(), re.ASCII)
    if not found:
        raise typer.BadParameter(
            f"{text!r} is not a length of time. Give a number and s, m, h, d or w, as in {option} 30d.",
            param_hint=option,
        )
    return float(found[1]) * _SECONDS[found[2]]
