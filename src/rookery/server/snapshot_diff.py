"""What differs between two snapshots: which files, and of texts which lines. Bounded: a diff is for people."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, BinaryIO, Optional

__all__ = ["diff_snapshots"]

MAX_FILES = 500
MAX_FILE = 512 * 1024
MAX_LINES = 20_000
MAX_TEXT = 1024 * 1024
MAX_DIFF_LINES = 5000

Entries = dict[str, dict[str, Any]]
Open = Callable[[str], BinaryIO]


def diff_snapshots(
    old: list[dict[str, Any]], new: list[dict[str, Any]], open_content: Open, context: int = 3, only: str = ""
) -> dict[str, Any]:
    """{"files": [{"path", "change", "old_size", "new_size", "diff", "why", "cut"}…], "same", "more"}."""
    before, after = {one["path"]: one for one in old}, {one["path"]: one for one in new}
    paths = sorted(before.keys() | after.keys())
    changed = [path for path in paths if _what(before.get(path), after.get(path)) is not None]
    wanted = [path for path in changed if not only or path == only or path.startswith(only.rstrip("/") + "/")]
    files, left = [], MAX_TEXT
    for path in wanted[:MAX_FILES]:
        file = _file(path, before.get(path), after.get(path), open_content, context, left)
        left -= len(file["diff"] or "")
        files.append(file)
    return {"files": files, "same": len(paths) - len(changed), "more": len(wanted) > MAX_FILES}


def _what(old: Optional[dict[str, Any]], new: Optional[dict[str, Any]]) -> Optional[str]:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    if (old["sha256"], old["link"]) != (new["sha256"], new["link"]):
        return "changed"
    return "mode" if old["mode"] != new["mode"] else None


def _file(
    path: str,
    old: Optional[dict[str, Any]],
    new: Optional[dict[str, Any]],
    open_content: Open,
    context: int,
    left: int,
) -> dict[str, Any]:
    change = _what(old, new)
    told: dict[str, Any] = {
        "path": path,
        "change": change,
        "old_size": None if old is None else old["size"],
        "new_size": None if new is None else new["size"],
        "diff": None,
        "why": None,
        "cut": False,
    }
    if change == "mode":
        assert old is not None
        assert new is not None
        return {**told, "why": f"only its mode changed: {old['mode']:o} → {new['mode']:o}"}
    if left <= 0:
        return {**told, "why": "the diff is long enough already; ask for this file alone"}
    texts = [_text(one, open_content) for one in (old, new)]
    for text in texts:
        if isinstance(text, str):
            return {**told, "why": text}
    lines = list(_lines(path, texts[0], texts[1], context))
    whole = "\n".join(lines[:MAX_DIFF_LINES])
    return {**told, "diff": whole[:left], "cut": len(lines) > MAX_DIFF_LINES or len(whole) > left}


def _text(one: Optional[dict[str, Any]], open_content: Open) -> Any:
    """Its lines, or a sentence that says why there are none to compare."""
    if one is None:
        return []
    if one["link"] is not None:
        return [f"link to {one['link']}"]
    if one["size"] > MAX_FILE:
        return f"it is larger than {MAX_FILE >> 10} KiB"
    with open_content(one["sha256"]) as file:
        data = file.read(MAX_FILE + 1)
    if b"\0" in data:
        return "it is a binary file"
    lines = data.decode("utf-8", "replace").splitlines()
    return lines if len(lines) <= MAX_LINES else f"it has more than {MAX_LINES} lines"


def _lines(path: str, old: list[str], new: list[str], context: int) -> list[str]:
    if (
        len(old) * len(new) > 25_000_000
    ):  # beyond it difflib takes seconds: only what is the same at both ends is left out
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        end = 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        gone, come = old[start : len(old) - end], new[start : len(new) - end]
        head = f"@@ -{start + 1},{len(gone)} +{start + 1},{len(come)} @@"
        return [f"--- {path}", f"+++ {path}", head, *("-" + line for line in gone), *("+" + line for line in come)]
    return list(difflib.unified_diff(old, new, path, path, lineterm="", n=context))
