"""FILE|NAME of `--env` and `rookery env build` → the SDK's Environment."""

from __future__ import annotations

import os
import re
from typing import Any, Optional

from rookery.cli import session
from rookery.cli.terminal import note
from rookery.errors import UserError

__all__ = ["choose_environment", "parse_environment"]

MAX_BYTES = 16 * 1024 * 1024  # what the keeper takes of the largest kind, a lock
_ENDINGS = (".yml", ".yaml", ".txt", ".toml", ".lock", ".in")
_SAVED = "azureml_environment.json"


def choose_environment(given: str) -> Any:
    """An environment from a file, from a folder that `save_to_directory` made, or by its registered or curated name.

    Raises:
        UserError: the file is not there or cannot be read as a specification.
        EnvironmentNotFoundError: there is none of that name.
    """
    from rookery.sdk import Environment

    path = os.path.expanduser(given)
    if os.path.isfile(path):
        return _from_file(path)
    if os.path.isfile(os.path.join(path, _SAVED)):
        return Environment.load_from_directory(path)
    if os.sep in given or given.lower().endswith(_ENDINGS):
        raise UserError(
            f"{given!r} is not a file that exists. Give a conda YAML, a requirements file, a pyproject.toml, a lock file, or the "
            "name of an environment (`rookery env list --registered`)."
        )
    name, version = parse_environment(given)
    return Environment.get(session.sdk_workspace(), name, version)


def parse_environment(text: str) -> tuple[str, Optional[str]]:
    """`NAME` or `NAME:VERSION`."""
    name, _, version = text.partition(":")
    return name, version or None


def _from_file(path: str) -> Any:
    """The keeper reads it: what is refused and why is decided in one place."""
    from rookery.sdk import Environment
    from rookery.sdk.conda_dependencies import CondaDependencies

    body = {"file": os.path.basename(path), "text": _read(path), "folder": os.path.dirname(os.path.abspath(path))}
    told = session.client().request("POST", "/environments/specifications", body=body)
    for text in told["notes"]:
        note(f"note: {text}")
    environment = Environment(_name(told["conda"].get("name"), path))
    environment.python.conda_dependencies = CondaDependencies(_underlying_structure=told["conda"])
    return environment


def _name(said: Optional[str], path: str) -> str:
    """What the file calls itself, else the file's own name, else its folder's where that is the same everywhere."""
    stem = os.path.splitext(os.path.basename(path))[0]
    if said and said != "environment":
        return said
    if stem in ("environment", "requirements", "conda_dependencies", "pyproject", "uv", "pylock"):
        stem = os.path.basename(os.path.dirname(os.path.abspath(path))) or stem
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "environment"


def _read(path: str) -> str:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise UserError(f"{path} has {os.path.getsize(path)} bytes, which no specification needs.")
        with open(path, encoding="utf-8-sig") as f:
            return f.read(MAX_BYTES + 1)
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8. Is it a specification?") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
