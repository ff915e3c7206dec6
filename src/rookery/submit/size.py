"""The warning about a source folder that is too large, and what to leave out of it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["largest_paths", "size_warning", "words_for_bytes"]

SHOWN = 5
# A folder of which nearly all is in one place below it: that place is named instead.
NEARLY_ALL = 0.9


def size_warning(folder: str, sizes: list[tuple[str, int]], limit: int) -> str:
    """One text that names the largest paths and says what to do; '' when `sizes` (path, bytes) are not above
    `limit`."""
    total = sum(size for _, size in sizes)
    if total <= limit:
        return ""
    lines = [f"  {words_for_bytes(size):>9}  {path}" for path, size in largest_paths(sizes)]
    return (
        f"The source folder {folder} has {words_for_bytes(total)} in {len(sizes):,} files; "
        "all of it goes to the run. The largest:\n"
        + "\n".join(lines)
        + "\nLeave out what the run does not need with a line in .amlignore. (Setting snapshot_warn_bytes: "
        + f"{words_for_bytes(limit)}.)"
    )


def largest_paths(sizes: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The five largest files and folders (these end with '/'), none inside another."""
    top: dict[str, list[tuple[str, int]]] = {}
    for path, size in sizes:
        top.setdefault(_head(path, 0), []).append((path, size))
    named = [_narrowed(name, members) for name, members in top.items()]
    return sorted(named, key=lambda item: (-item[1], item[0]))[:SHOWN]


def words_for_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def _head(path: str, start: int) -> str:
    """The path as far as the first slash after `start`, with it."""
    slash = path.find("/", start)
    return path if slash < 0 else path[: slash + 1]


def _narrowed(name: str, members: list[tuple[str, int]]) -> tuple[str, int]:
    total = sum(size for _, size in members)
    while name.endswith("/"):
        below: dict[str, list[tuple[str, int]]] = {}
        for path, size in members:
            below.setdefault(_head(path, len(name)), []).append((path, size))
        child, inside = max(below.items(), key=lambda item: sum(size for _, size in item[1]))
        size = sum(size for _, size in inside)
        if size < NEARLY_ALL * total or total == 0:
            break
        name, members, total = child, inside, size
    return name, total
