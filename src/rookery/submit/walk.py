"""Walking a source folder: what belongs to a snapshot, and what is left out.

Always left out, whatever the ignore file says: version control and our own folder, virtual environments,
caches, installed JavaScript packages (they come from a lock file, and are the largest folder of any project
that has them), compiled Python.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from typing import NamedTuple, Optional

from rookery.errors import SnapshotError
from rookery.submit.ignore import IgnoreRules, read_ignore_file

__all__ = ["SKIPPED_NAMES", "Found", "walk"]

SKIPPED_NAMES = frozenset(
    [
        ".git",
        ".rookery",
        "__pycache__",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "node_modules",
    ]
)
# A folder that holds one of these is a virtual environment (venv, virtualenv, uv; conda).
_MARKS_ENVIRONMENT = frozenset(["pyvenv.cfg", "conda-meta"])

# What no path of the record may hold (spec.names.check_artifact_name): a whole submit must not fail for one
# such file.
_ODD = re.compile(r"[\x00-\x1f\x7f\\]").search


class Found(NamedTuple):
    """One file of a source folder: its path below it, what stat says of it, and for a symbolic link that is
    kept its target."""

    path: str
    stat: os.stat_result
    link: Optional[str] = None


def walk(folder: str, on_warning: Callable[[str], None]) -> list[Found]:
    """Every file of `folder` that belongs to its snapshot, in no particular order.

    Raises:
        SnapshotError: it is no folder, or something in it may not be read.
    """
    folder = os.path.realpath(folder)
    if not os.path.isdir(folder):
        raise SnapshotError(f"The source folder {folder} does not exist or is not a folder. Give one that does.")
    try:
        rules = read_ignore_file(folder)
    except OSError as error:
        raise _unreadable(error) from error
    found: list[Found] = []
    todo = [""]
    while todo:
        prefix = todo.pop()
        _list(folder, prefix, rules, found, todo, on_warning)
    return found


def _list(
    root: str,
    prefix: str,
    rules: Optional[IgnoreRules],
    found: list[Found],
    todo: list[str],
    on_warning: Callable[[str], None],
) -> None:
    """One folder: its files go to `found`, its folders to `todo`. `prefix` is '' or ends with '/'. The hot
    loop: 10,000 times."""
    try:
        with os.scandir(f"{root}/{prefix}") as listing:
            entries = list(listing)
    except FileNotFoundError:
        return  # removed meanwhile
    except OSError as error:
        raise _unreadable(error) from error
    if prefix and not _MARKS_ENVIRONMENT.isdisjoint([e.name for e in entries]):
        return
    skipped, is_odd = SKIPPED_NAMES, _ODD
    is_ignored = rules.is_ignored if rules is not None else None
    for entry in entries:
        name = entry.name
        if name in skipped or name.endswith(".pyc"):
            continue
        path = prefix + name
        is_dir = entry.is_dir(follow_symlinks=False)
        if is_ignored is not None and is_ignored(path, is_dir):
            continue
        if is_odd(name) or not (name.isascii() or _is_unicode(name)):
            why = "holds a control character or a backslash" if is_odd(name) else "is not valid UTF-8"
            on_warning(f"{_shown(path)} is left out: its name {why}. Rename it to have it in the snapshot.")
            continue
        if is_dir:
            todo.append(path + "/")
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(error) from error
        mode = status.st_mode
        if stat.S_ISREG(mode):
            found.append(Found(path, status))
        elif stat.S_ISLNK(mode):
            _take_link(root, path, status, found, on_warning)
        else:
            on_warning(f"{_shown(path)} is left out: it is a {_kind(mode)}, not a file.")


def _take_link(
    root: str, path: str, status: os.stat_result, found: list[Found], on_warning: Callable[[str], None]
) -> None:
    """A link to something in the folder stays a link; a file elsewhere is taken as if it lay here; the rest
    is left out."""
    full = f"{root}/{path}"
    try:
        target = os.readlink(full)
        real = os.path.realpath(full, strict=True) if _STRICT else _resolve(full)
        real_status = os.stat(real)
    except OSError:
        on_warning(f"{_shown(path)} is left out: it is a symbolic link that leads nowhere.")
        return
    if real == root or real.startswith(root + "/"):
        kept = target if _stays_inside(path, target) else os.path.relpath(real, os.path.dirname(full))
        if _is_unicode(kept) and not _ODD(kept):
            found.append(Found(path, status, kept))
        else:
            on_warning(f"{_shown(path)} is left out: it links to a name that cannot be in a snapshot.")
    elif stat.S_ISREG(real_status.st_mode):
        on_warning(f"{_shown(path)} links to {_shown(real)} outside the source folder; its content is taken.")
        found.append(Found(path, real_status))
    else:
        what = "a folder" if stat.S_ISDIR(real_status.st_mode) else "no file"
        on_warning(
            f"{_shown(path)} is left out: it links to {_shown(real)}, {what} outside the source "
            "folder. Data is better passed "
            "to a run as an argument or a dataset; code is better copied."
        )


_STRICT = "strict" in (os.path.realpath.__kwdefaults__ or {})  # Python 3.10


def _resolve(path: str) -> str:
    os.stat(path)  # raises where realpath of Python 3.9 would go on
    return os.path.realpath(path)


def _stays_inside(path: str, target: str) -> bool:
    """Whether a link's own text leads to a place inside the folder, whatever other links there are: it goes
    up at its
    beginning only, and not further than the folder. The record takes no others."""
    parts = [p for p in target.split("/") if p not in ("", ".")]
    ups = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    return not target.startswith("/") and ".." not in parts[ups:] and ups <= path.count("/")


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    """A path that can be printed, whatever is in it."""
    return path if path.isprintable() else ascii(path)


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISFIFO, "pipe"),
        (stat.S_ISCHR, "device"),
        (stat.S_ISBLK, "device"),
    )
    return next((word for test, word in kinds if test(mode)), "special file")


def _unreadable(error: OSError) -> SnapshotError:
    name = error.filename if isinstance(error.filename, str) else ""
    return SnapshotError(
        f"{_shown(name)} cannot be read: {error.strerror or error}. Make it readable, or "
        "leave it out with a line in .amlignore."
    )
