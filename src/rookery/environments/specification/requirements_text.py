"""The lines of a requirements file: requirements, comments, and the few options that are taken."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass

from rookery.environments.specification.requirement import Requirement, mask, parse_requirement
from rookery.errors import UserError

__all__ = ["OPTIONS", "RequirementLines", "parse_requirements"]

MAX_LINES = 20_000

# The options that say where packages come from. Everything else in a requirements file (-e, -r, -c,
# --install-option,
# --global-option …) reads other files or runs code of its own and is refused.
OPTIONS = {
    "-i": "--index-url",
    "--index-url": "--index-url",
    "--pypi-url": "--index-url",
    "--extra-index-url": "--extra-index-url",
    "-f": "--find-links",
    "--find-links": "--find-links",
    "--trusted-host": "--trusted-host",
    "--only-binary": "--only-binary",
    "--no-binary": "--no-binary",
}
SWITCHES = {"--no-index": "--no-index", "--pre": "--pre"}
IGNORED = {"--prefer-binary", "--require-hashes", "--no-cache-dir", "--upgrade", "-U", "--no-deps"}
_ADDRESSES = ("--index-url", "--extra-index-url", "--find-links")


@dataclass(frozen=True)
class RequirementLines:
    requirements: tuple[Requirement, ...]
    options: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def parse_requirements(text: str, sources: Collection[str] = ("https",), folder: str = "") -> RequirementLines:
    """Read all lines.

    Raises:
        UserError: a line is neither a requirement nor an option that is taken; the message quotes it.
    """
    requirements: dict[Requirement, None] = {}
    options: list[tuple[str, str]] = []
    notes: list[str] = []
    lines = re.sub(r"\\\r?\n", " ", text).splitlines()
    if len(lines) > MAX_LINES:
        raise UserError(f"{len(lines)} lines of requirements; {MAX_LINES} are allowed.")
    for raw in lines:
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if not line:
            continue
        if line.startswith("-"):
            options += _parse_option(line, sources, notes)
        else:
            requirements[parse_requirement(line, sources, folder)] = None
    return RequirementLines(tuple(requirements), tuple(options), tuple(notes))


def _parse_option(line: str, sources: Collection[str], notes: list[str]) -> list[tuple[str, str]]:
    shown = mask(line[:80])
    try:
        words = shlex.split(line.replace("=", " ", 1) if re.match(r"--[a-z-]+=", line) else line)
    except ValueError:
        words = []
    if not words or not line.isprintable():
        raise UserError(f"Option line {shown!r} cannot be read.")
    name, values = words[0], words[1:]
    if name in IGNORED and not values:
        notes.append(f"The option {name} in the requirements has no effect here.")
        return []
    if name in SWITCHES and not values:
        return [(SWITCHES[name], "")]
    if name not in OPTIONS or len(values) != 1:
        raise UserError(
            f"Option line {shown!r} is not taken. {_advice(name)} Taken: "
            f"{', '.join([*OPTIONS, *SWITCHES])}, each on a line of its own."
        )
    name, value = OPTIONS[name], values[0]
    if value.startswith("-"):
        raise UserError(f"Option line {shown!r}: the value must not start with a dash.")
    if name in _ADDRESSES and not value.startswith("https://"):
        kind = "http" if value.startswith("http://") else "file"
        if kind not in sources:
            raise UserError(
                f"Option line {shown!r}: only https:// addresses are taken (a folder of this machine "
                "belongs in pip's own configuration). "
                f"Adding '{kind}' to the setting requirement_sources allows it."
            )
    return [(name, value)]


def _advice(name: str) -> str:
    if name in ("-r", "--requirement", "-c", "--constraint"):
        return "Put that file's lines into this one."
    if name in ("-e", "--editable"):
        return "Your source folder is the run's working folder already; list its requirements instead."
    return ""
