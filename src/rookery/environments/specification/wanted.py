"""What a specification asks for, read from a conda file, a requirements file, a pyproject.toml or a lock
file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rookery.environments.specification.conda_spec import CondaDependency, check_channel, parse_conda_dependency
from rookery.environments.specification.requirement import Requirement, parse_requirement
from rookery.environments.specification.requirements_text import parse_requirements
from rookery.errors import UserError
from rookery.spec.safe_yaml import MAX_BYTES, load_yaml, read_text

__all__ = ["Wanted", "from_conda", "from_requirements", "parse_specification", "read_specification"]

MAX_DEPENDENCIES = 2000
MAX_LOCK_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Wanted:
    """What was asked for, with nothing decided yet.

    python: a condition in conda's words ('3.6.2', '3.8', '>=3.9,<3.12'), None where the file says nothing.
    conda: packages other than python and pip that conda was asked for.
    pip: requirements, in order.
    options: index options of requirement files ('--index-url URL' …), each with its value.
    constraints: versions to keep to without asking for the package (from a lock file).
    locked: pip holds a whole lock with hashes; nothing is left to resolve.
    """

    python: str | None = None
    conda: tuple[CondaDependency, ...] = ()
    channels: tuple[str, ...] = ()
    pip: tuple[Requirement, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    constraints: tuple[str, ...] = ()
    locked: bool = False
    name: str = ""
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_specification(path: str, sources: Collection[str] = ("https",)) -> Wanted:
    """Read a file by its name: *.yml and *.yaml are conda's, pyproject.toml, uv.lock and pylock*.toml are
    what they say, the rest are requirements.

    Raises:
        UserError: it cannot be read as that, or asks for something that is refused; the message names the
            file.
    """
    name = os.path.basename(path)
    text = read_text(path, *([MAX_LOCK_BYTES] if _is_lock(name) else []))
    return parse_specification(text, path, sources, os.path.dirname(os.path.abspath(path)))


def parse_specification(text: str, path: str, sources: Collection[str] = ("https",), folder: str = "") -> Wanted:
    """The same for text that was read already; `path` says what it is, `folder` what relative paths mean.

    Raises:
        UserError: see read_specification.
    """
    from rookery.environments.specification.toml_specs import from_pylock, from_pyproject, from_uv_lock

    name = os.path.basename(path)
    if len(text) > (MAX_LOCK_BYTES if _is_lock(name) else MAX_BYTES):
        raise UserError(f"{path} has {len(text)} characters, which is more than a specification may have.")
    try:
        if name.endswith((".yml", ".yaml")):
            return from_conda(load_yaml(text, name), sources, folder)
        if name == "uv.lock":
            return from_uv_lock(text, name)
        if _is_lock(name):
            return from_pylock(text, name)
        if name.endswith(".toml"):
            return from_pyproject(text, name, sources, folder)
        return from_requirements(text, sources, folder)
    except UserError as error:
        if name in error.message:
            raise
        raise UserError(f"{path}: {error.message}") from error


def from_conda(spec: Mapping[str, Any], sources: Collection[str] = ("https",), folder: str = "") -> Wanted:
    """Read a conda specification.

    Args:
        spec: what the YAML holds: name, channels, dependencies with at most one {'pip': […]}.

    Raises:
        UserError: it is not one.
    """
    if not isinstance(spec, Mapping):
        raise UserError(f"A conda specification is a mapping with `dependencies`, not a {type(spec).__name__}.")
    known = {"name", "channels", "dependencies", "prefix", "variables", "platforms", "category", "constraints"}
    unknown = sorted(str(k) for k in spec if k not in known)
    if unknown:
        raise UserError(f"A conda specification has no {unknown[0][:60]!r}. Known: {', '.join(sorted(known))}.")
    name = "" if spec.get("name") is None else str(spec["name"])
    if "/" in name or "\\" in name or not name.isprintable() or len(name) > 200 or name.startswith((".", "-")):
        raise UserError(
            f"Environment name {name[:60]!r} is not allowed. Use letters, digits, dots, dashes and underscores."
        )
    python: str | None = None
    conda: list[CondaDependency] = []
    pip_lines: list[str] = []
    notes: list[str] = []
    for entry in _listed(spec, "dependencies"):
        if isinstance(entry, Mapping):
            pip_lines += _pip_lines(entry)
            continue
        if not isinstance(entry, str):
            raise UserError(f"dependencies: {entry!r} is not text. Quote it, like 'numpy=1.19'.")
        one = parse_conda_dependency(entry)
        if one.name == "python":
            python = (
                one.condition.removeprefix("==") if one.condition.startswith("==") else one.condition.removeprefix("=")
            )
            if one.build:
                notes.append(f"python: the build '{one.build}' was not looked for, only the version.")
        elif one.name != "pip":
            conda.append(one)
        elif one.condition:
            pip_lines.append("pip" + one.pip_condition)  # a pinned pip is installed as it is pinned
    deviations = (
        ("The `variables` of the conda file are not set; use environment_variables.",) if spec.get("variables") else ()
    )
    lines = parse_requirements("\n".join(pip_lines), sources, folder)
    channels = tuple(check_channel(c) for c in _listed(spec, "channels"))
    return Wanted(
        python,
        tuple(conda),
        channels,
        lines.requirements,
        lines.options,
        constraints=tuple(_constraint(c) for c in _listed(spec, "constraints")),
        locked=not conda and _is_whole_lock(lines.requirements),
        name=name,
        deviations=deviations,
        notes=tuple(notes) + lines.notes,
    )


def from_requirements(text: str, sources: Collection[str] = ("https",), folder: str = "") -> Wanted:
    """Read the text of a requirements file. One in which every line is pinned with == and hashes is a lock.

    Raises:
        UserError: a line is not a requirement or is an option that is refused.
    """
    lines = parse_requirements(text, sources, folder)
    locked = _is_whole_lock(lines.requirements)
    return Wanted(pip=lines.requirements, options=lines.options, locked=locked, notes=lines.notes)


def _is_lock(file_name: str) -> bool:
    return file_name == "uv.lock" or (file_name.startswith("pylock") and file_name.endswith(".toml"))


def _is_whole_lock(requirements: tuple[Requirement, ...]) -> bool:
    return bool(requirements) and all(r.hashes and r.condition.startswith("==") for r in requirements)


def _constraint(text: Any) -> str:
    if not isinstance(text, str):
        raise UserError(f"constraints: {str(text)[:60]!r} is not text. Give versions, like 'numpy==1.19.5'.")
    return parse_requirement(text, ()).text


def _listed(spec: Mapping[str, Any], key: str) -> list[Any]:
    values = spec.get(key)
    if values is None:
        return []
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise UserError(f"{key} must be a list, like [numpy=1.19], not {str(values)[:60]!r}.")
    if len(values) > MAX_DEPENDENCIES:
        raise UserError(f"{key} has {len(values)} entries; {MAX_DEPENDENCIES} are allowed.")
    return list(values)


def _pip_lines(entry: Mapping[str, Any]) -> list[str]:
    if list(entry) != ["pip"]:
        raise UserError(
            f"dependencies: {', '.join(map(str, entry))[:80]!r} is not known. The only section inside "
            "dependencies is `pip:`."
        )
    lines = _listed(entry, "pip")
    for line in lines:
        if not isinstance(line, str) or "\n" in line:
            raise UserError(f"pip: {str(line)[:80]!r} is not one line of text.")
    return lines
