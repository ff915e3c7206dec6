"""Which source is meant by what was typed."""

from __future__ import annotations

import os
from typing import Optional

from rookery.bring.base import Source
from rookery.errors import UserError

__all__ = ["open_source"]

_SQLITE = b"SQLite format 3\x00"


def open_source(
    text: str,
    *,
    token: Optional[str] = None,
    username: Optional[str] = None,
    password: Optional[str] = None,
    artifacts: Optional[str] = None,
) -> Source:
    """A tracking server (`http://…`), a SQLite file (`sqlite:///…` or a path), or a folder `mlruns`.

    Raises:
        UserError: it is none of them; the words say what it was taken for.
    """
    if text.startswith(("http://", "https://")):
        from rookery.bring.mlflow_server import ServerSource

        return ServerSource(text, token, username, password)
    if text.startswith("sqlite:") or _is_sqlite(text):
        from rookery.bring.mlflow_sqlite import SqliteSource, sqlite_path

        path = sqlite_path(text)
        if not os.path.isfile(path):
            raise UserError(
                f"{path} does not exist. Give the SQLite file that `mlflow server --backend-store-uri` names."
            )
        return SqliteSource(path, artifacts)
    if "://" in text and not text.startswith("file:"):
        raise UserError(
            f"{text!r} cannot be imported directly. Start `mlflow server --backend-store-uri …` over it and import from "
            "its address."
        )
    from rookery.bring.mlflow_folder import FolderSource, folder_path

    return FolderSource(folder_path(text), artifacts)


def _is_sqlite(path: str) -> bool:
    try:
        with open(os.path.expanduser(path), "rb") as f:
            return f.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
