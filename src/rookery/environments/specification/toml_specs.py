"""Specifications in TOML: pyproject.toml, uv.lock, pylock.toml."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from typing import Any

from rookery.environments.specification.requirement import Requirement, parse_requirement
from rookery.environments.specification.requirements_text import parse_requirements
from rookery.environments.specification.wanted import Wanted
from rookery.errors import UserError

__all__ = ["from_pylock", "from_pyproject", "from_uv_lock"]


def from_pyproject(text: str, where: str, sources: Collection[str] = ("https",), folder: str = "") -> Wanted:
    """`[project]` dependencies and requires-python; the project itself is not installed (its folder is the
    run's source).

    Raises:
        UserError: there is no [project], or its dependencies are dynamic.
    """
    project = _load(text, where).get("project")
    if not isinstance(project, dict):
        raise UserError(
            f"{where} has no [project] table (PEP 621). Export its dependencies as a requirements file and give that."
        )
    if "dependencies" in (project.get("dynamic") or []):
        raise UserError(
            f"{where}: its dependencies are dynamic, made by a build backend. Write them as a requirements "
            "file and give that."
        )
    listed = project.get("dependencies") or []
    if not isinstance(listed, list) or not all(
        isinstance(d, str) and "\n" not in d and not d.lstrip().startswith("-") for d in listed
    ):
        raise UserError(f"{where}: project.dependencies must be a list of requirements.")
    lines = parse_requirements("\n".join(listed), sources, folder)
    python = project.get("requires-python")
    return Wanted(python=str(python) if python else None, pip=lines.requirements, name=str(project.get("name") or ""))


def from_uv_lock(text: str, where: str) -> Wanted:
    """What the project in a uv.lock depends on, at the versions of the lock. A name that it holds twice (for
    other platforms) is left to the resolver.

    Raises:
        UserError: it holds no project.
    """
    data = _load(text, where)
    packages = _tables(data.get("package"), where)
    roots = [p for p in packages if isinstance(p.get("source"), dict) and {"virtual", "editable"} & set(p["source"])]
    if not roots:
        raise UserError(
            f"{where} holds no project of its own, so nothing says what is asked for. Give the "
            "pyproject.toml or a requirements file."
        )
    wanted: dict[Requirement, None] = {}
    for root in roots:
        for one in _tables(root.get("dependencies"), where):
            extras = f"[{','.join(map(str, one['extra']))}]" if one.get("extra") else ""
            marker = f"; {one['marker']}" if one.get("marker") else ""
            wanted[parse_requirement(f"{one.get('name', '')}{extras}{marker}", ())] = None
    versions: dict[str, list[str]] = {}
    for one in packages:
        if one not in roots and one.get("version"):
            versions.setdefault(str(one.get("name")), []).append(str(one["version"]))
    pins = tuple(parse_requirement(f"{n}=={v[0]}", ()).text for n, v in sorted(versions.items()) if len(v) == 1)
    return Wanted(
        python=str(data.get("requires-python") or "") or None,
        pip=tuple(wanted),
        constraints=pins,
        name=str(roots[0].get("name") or ""),
    )


def from_pylock(text: str, where: str) -> Wanted:
    """The packages of a pylock.toml (PEP 751) at their versions."""
    data = _load(text, where)
    pip: list[Requirement] = []
    for one in _tables(data.get("packages"), where):
        if not one.get("version"):
            raise UserError(
                f"{where}: package {one.get('name')!r} has no version (it is a folder or a repository). "
                "Such locks are not taken."
            )
        marker = f"; {one['marker']}" if one.get("marker") else ""
        pip.append(parse_requirement(f"{one.get('name', '')}=={one['version']}{marker}", ()))
    return Wanted(python=str(data.get("requires-python") or "") or None, pip=tuple(pip))


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    values = value or []
    if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
        raise UserError(f"{where} is not a lock file that can be read.")
    return values


def _load(text: str, where: str) -> dict[str, Any]:
    for name in ("tomllib", "tomli", "pip._vendor.tomli"):  # the first is there from Python 3.11 on
        try:
            toml = importlib.import_module(name)
        except ImportError:
            continue
        try:
            return dict(toml.loads(text))
        except (toml.TOMLDecodeError, RecursionError) as error:
            raise UserError(f"{where} is not valid TOML: {error}") from error
    raise UserError(
        f"{where}: TOML is read from Python 3.11 on. Install `tomli` beside Rookery, or give a requirements file."
    )
