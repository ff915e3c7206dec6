"""KEY=VALUE options, secrets, and NAME:VERSION of models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Optional

import typer

__all__ = ["parse_model", "parse_pairs", "parse_secrets"]


def parse_pairs(
    option: str, texts: Optional[Sequence[str]], *, value_needed: bool = True, example: str = "stage=test"
) -> dict[str, str]:
    """A dict of the pairs given; the last of one key wins."""
    pairs = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key or (value_needed and not equals):
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE, as in {option} {example}.", param_hint=option)
        pairs[key] = value
    return pairs


def parse_secrets(option: str, texts: Optional[Sequence[str]]) -> dict[str, str]:
    """KEY=VALUE, or KEY alone for the value that this process has, which keeps it out of the shell's history."""
    secrets = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key:
            raise typer.BadParameter("A secret is KEY=VALUE or KEY.", param_hint=option)  # its text stays unsaid
        if not equals and key not in os.environ:
            raise typer.BadParameter(
                f"{key} is not set here. Give {option} {key}=VALUE, or set the variable first.", param_hint=option
            )
        secrets[key] = value if equals else os.environ[key]
    return secrets


def parse_model(text: str) -> tuple[str, Optional[int]]:
    """`birds` or `birds:3`."""
    name, colon, version = text.partition(":")
    if not colon:
        return name, None
    if not version.isascii() or not version.isdigit() or int(version) < 1:
        raise typer.BadParameter(
            f"{text!r}: the version is a whole number from 1 on. Give NAME or NAME:VERSION, as in birds:3."
        )
    return name, int(version)
