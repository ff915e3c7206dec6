"""Where a workspace keeps its record and its files: what `rookery server` is told once, and every keeper after it uses."""

from __future__ import annotations

import json
import os
import secrets
from typing import Any

from rookery.errors import ConfigError, UserError
from rookery.spec.paths import WorkspacePaths

__all__ = ["remember_places"]

DATABASES = ("postgresql://", "postgresql+psycopg://", "sqlite:///")


def remember_places(root: str, database: str, artifacts: str) -> bool:
    """Writes what is not empty to the workspace's settings.json, which others may not read: the URL of a database may hold
    its password, and a variable would be handed on to the processes of runs. Returns whether anything changed.

    Raises:
        UserError: the database is of a kind that cannot hold a record.
    """
    if database and not database.startswith(DATABASES):
        raise UserError(
            f"--database {database.partition('://')[0][:40]!r} cannot hold a record. Give postgresql://user:password@host/name "
            "or sqlite:////path/to/record.db."
        )
    path = WorkspacePaths(root).settings
    old = _read(path)
    new = dict(old)
    if database:
        new["database_url"] = database
    if artifacts:
        new["artifact_root"] = (
            artifacts if "://" in artifacts else "file://" + os.path.abspath(os.path.expanduser(artifacts))
        )
    if new == old:
        return False
    partial = f"{path}.{secrets.token_hex(4)}"
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as f:
        json.dump(new, f, indent=2)
    os.replace(partial, path)
    return True


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            values = json.load(f)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Mend or remove it.") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold a JSON object of settings. Mend or remove it.")
    return values
