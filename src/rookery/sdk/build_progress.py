"""How far the building of an environment is, read from its log: nothing else travels, so every reader of the log can show it."""

from __future__ import annotations

import re
from typing import Callable

__all__ = ["BuildProgress"]

# Where each stage begins, as a share of the whole. Downloads take the time; their share goes by bytes where sizes are said.
RESOLVED, FETCHED, INSTALLED, DONE = 0.15, 0.75, 0.85, 1.0
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


class BuildProgress:
    """`take` lines of a build log; `share` (0 to 1, never less than before) and `words` say where it is.

    Knows what the builder, uv and the conda installer say; other lines change nothing.
    """

    def __init__(self) -> None:
        self.share = 0.0
        self.words = "preparing"
        self.num_packages = 0
        self._sizes: dict[str, float] = {}  # downloads that were announced, in bytes
        self._fetched: set[str] = set()
        self._num_imported = 0

    @property
    def is_done(self) -> bool:
        return self.share >= DONE

    def take(self, line: str) -> None:
        for pattern, act in _LINES:
            found = pattern.match(line)
            if found:
                act(self, found)
                return

    def _at(self, share: float, words: str) -> None:
        self.share, self.words = max(self.share, share), words

    def _resolving(self, found: re.Match[str]) -> None:
        self._at(0.02, f"resolving {_count(found[1], 'requirement')}")

    def _solving(self, _found: re.Match[str]) -> None:
        self._at(0.02, "solving")

    def _solved(self, found: re.Match[str]) -> None:
        self._at(RESOLVED, f"resolved {_count(found[1], 'package')}")

    def _building(self, found: re.Match[str]) -> None:
        self.num_packages = int(found[1])
        self._at(RESOLVED, f"installing {_count(found[1], 'package')}")

    def _downloading(self, found: re.Match[str]) -> None:
        self._sizes[found[1]] = float(found[2]) * _UNITS[found[3]]
        self._fetching()

    def _downloaded(self, found: re.Match[str]) -> None:
        self._fetched.add(found[1])
        self._fetching()

    def _fetching(self) -> None:
        total = sum(self._sizes.values())
        done = sum(size for name, size in self._sizes.items() if name in self._fetched)
        waiting = [name for name in self._sizes if name not in self._fetched]
        size = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"
        words = f"downloading {_names(waiting)}, {size}" if waiting else f"downloaded {size}"
        self._at(RESOLVED + (FETCHED - RESOLVED) * (done / total if total else 0), words)

    def _making(self, found: re.Match[str]) -> None:
        self._at(self.share, f"building {found[1]} from source")

    def _prepared(self, found: re.Match[str]) -> None:
        self._at(FETCHED, f"has {_count(found[1], 'package')}")

    def _conda_step(self, found: re.Match[str]) -> None:
        done, total = int(found[1]), int(found[2])
        self._at(
            RESOLVED + (FETCHED - RESOLVED) * done / max(total, 1), f"installed {done} of {total}: {found[3][:40]}"
        )

    def _conda_bytes(self, found: re.Match[str]) -> None:
        self._at(self.share, f"downloading {found[1][:40]}, {found[2]} of {found[3]} MB")

    def _installed(self, found: re.Match[str]) -> None:
        self._at(INSTALLED, f"installed {_count(found[1], 'package')}")

    def _importing(self, _found: re.Match[str]) -> None:
        self._at(INSTALLED, "importing what was asked for")

    def _imported(self, found: re.Match[str]) -> None:
        self._num_imported += 1
        self._at(DONE - (DONE - INSTALLED) / (self._num_imported + 1), f"imported {found[1][:40]}")

    def _built(self, _found: re.Match[str]) -> None:
        self._at(DONE, "built")


_Act = Callable[[BuildProgress, "re.Match[str]"], None]
_LINES: tuple[tuple[re.Pattern[str], _Act], ...] = tuple(
    (re.compile(pattern), act)
    for pattern, act in (
        (r"Resolving (\d+) requirements", BuildProgress._resolving),
        (r"Solving |Reading the package lists", BuildProgress._solving),
        (r"Solved: (\d+) conda packages", BuildProgress._solved),
        (r"Resolved (\d+) packages? in", BuildProgress._solved),
        (r"Building environment \w+: (\d+) packages", BuildProgress._building),
        (r"Downloading (\S+) \(([\d.]+)(B|KiB|MiB|GiB)\)", BuildProgress._downloading),
        (r" Downloaded (\S+)", BuildProgress._downloaded),
        (r"\s+Building (\S+)", BuildProgress._making),
        (r"Prepared (\d+) packages? in", BuildProgress._prepared),
        (r"  \[(\d+)/(\d+)\] (.*)", BuildProgress._conda_step),
        (r"  downloading (.+): (\d+) of (\d+) MB", BuildProgress._conda_bytes),
        (r"Installed (\d+) packages? in", BuildProgress._installed),
        (r"Importing what was asked for", BuildProgress._importing),
        (r"  import (\S+): ok", BuildProgress._imported),
        (r"Built in [\d.]+ s", BuildProgress._built),
    )
)


def _count(number: str, noun: str) -> str:
    return f"{number} {noun}{'' if number == '1' else 's'}"


def _names(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
