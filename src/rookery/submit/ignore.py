"""The ignore file: `.amlignore`, else `.gitignore`, at the root of a source folder. git's rules, written from
its documentation and held to `git check-ignore` by a test.

Everything is matched as bytes, as git does (`?` is one byte); strings here hold one character per byte
(latin-1).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Optional

from rookery.submit.wildmatch import literal_length, translate

__all__ = ["IGNORE_FILES", "IgnoreRules", "read_ignore_file"]

IGNORE_FILES = (".amlignore", ".gitignore")


def read_ignore_file(folder: str) -> Optional[IgnoreRules]:
    """The rules of the folder's ignore file, None when it has none."""
    for name in IGNORE_FILES:
        try:
            with open(os.path.join(folder, name), "rb") as f:
                return IgnoreRules(f.read())
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            continue
    return None


class IgnoreRules:
    """Which paths one ignore file leaves out. Ask for a folder before what is in it: what is below an ignored
    folder is ignored."""

    def __init__(self, text: bytes) -> None:
        self._groups: list[_Group] = []
        if text.startswith(b"\xef\xbb\xbf"):
            text = text[3:]
        for line in text.decode("latin-1").split("\n"):
            self._add(line)
        # The last pattern that matches decides, so they are asked from the last to the first.
        self._groups.reverse()
        for group in self._groups:
            group.compile()

    def is_ignored(self, path: str, is_dir: bool) -> bool:
        """Whether `path` (relative, '/' between its parts) itself is left out. A symbolic link is never a
        folder here."""
        if not path.isascii():
            path = os.fsencode(path).decode("latin-1")
        name = path[path.rfind("/") + 1 :]
        for group in self._groups:
            if group.matches(path, name, is_dir):
                return group.ignores
        return False

    def _add(self, line: str) -> None:
        if line.startswith("#"):
            return
        if line.endswith("\r"):
            line = line[:-1]
        pattern = _without_trailing_spaces(line)
        if not pattern:
            return
        ignores = not pattern.startswith("!")
        if not self._groups or self._groups[-1].ignores != ignores:
            self._groups.append(_Group(ignores))
        self._groups[-1].add(pattern if ignores else pattern[1:])


def _without_trailing_spaces(line: str) -> str:
    """Without spaces at the end, unless a backslash keeps them."""
    end, i = len(line), 0
    last_space: Optional[int] = None
    while i < end:
        if line[i] == " ":
            last_space = i if last_space is None else last_space
        else:
            last_space = None
            if line[i] == "\\":
                i += 1
                if i >= end:
                    return line
        i += 1
    return line if last_space is None else line[:last_space]


@dataclass
class _Group:
    """Neighbouring patterns that all ignore, or all keep. Most are plain names or `*.suffix`; those need no
    regular expression."""

    ignores: bool
    names: dict[bool, set[str]] = field(default_factory=lambda: {True: set(), False: set()})
    suffixes: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})
    on_name: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})
    on_path: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})

    def add(self, pattern: str) -> None:
        """Sort a pattern into the tables for folders (True) and, unless it is for folders only, for
        everything else (False)."""
        only_folders = pattern.endswith("/")
        if only_folders:
            pattern = pattern[:-1]
        kinds = (True,) if only_folders else (True, False)
        literal = literal_length(pattern)
        for kind in kinds:
            if "/" in pattern:
                self.on_path[kind].append(_path_expression(pattern, literal))
            elif literal == len(pattern):
                self.names[kind].add(pattern)
            elif pattern[0] == "*" and literal_length(pattern[1:]) == len(pattern) - 1:
                self.suffixes[kind].append(pattern[1:])
            else:
                self.on_name[kind].append(translate(pattern, path_mode=False))

    def compile(self) -> None:
        self._suffixes = {k: tuple(v) for k, v in self.suffixes.items()}
        self._name_match = {
            k: re.compile("|".join(v), re.DOTALL).fullmatch if v else None for k, v in self.on_name.items()
        }
        self._path_match = {
            k: re.compile("|".join(v), re.DOTALL).fullmatch if v else None for k, v in self.on_path.items()
        }

    def matches(self, path: str, name: str, is_dir: bool) -> bool:
        if name in self.names[is_dir] or name.endswith(self._suffixes[is_dir]):
            return True
        match = self._name_match[is_dir]
        if match is not None and match(name):
            return True
        match = self._path_match[is_dir]
        return match is not None and match(path) is not None


def _path_expression(pattern: str, literal: int) -> str:
    """A pattern with a slash is matched against the whole path. git compares the part before the first
    wildcard literally and begins matching after it, which decides what `**` means there: `foo**/bar` reaches
    into folders."""
    if pattern.startswith("/"):
        pattern, literal = pattern[1:], max(0, literal - 1)
    return re.escape(pattern[:literal]) + translate(pattern[literal:], path_mode=True)
