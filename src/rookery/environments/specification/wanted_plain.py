"""What was read from any file, written as conda data: the one form in which a specification travels with a run."""

from __future__ import annotations

from typing import Any

from rookery.environments.specification.wanted import Wanted

__all__ = ["to_conda"]


def to_conda(wanted: Wanted) -> dict[str, Any]:
    """The conda specification that `from_conda` reads as the same wish.

    `constraints` is a word of ours: versions to keep to where something asks for the package (a uv.lock's). Requirements that
    are all exact and hashed are a lock again when they are read.
    """
    pip = [f"{name} {value}".rstrip() for name, value in wanted.options] + [one.text for one in wanted.pip]
    dependencies: list[Any] = [_python(wanted.python)] if wanted.python else []
    dependencies += [one.text for one in wanted.conda]
    if pip:
        dependencies.append({"pip": pip})
    made: dict[str, Any] = {"name": wanted.name or "environment", "dependencies": dependencies}
    if wanted.channels:
        made["channels"] = list(wanted.channels)
    if wanted.constraints:
        made["constraints"] = list(wanted.constraints)
    return made


def _python(condition: str) -> str:
    return f"python{condition}" if condition[0] in "<>=!~" else f"python={condition}"
