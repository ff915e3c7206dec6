"""The conda half of a lock: exact packages with addresses and hashes, as data and as the lines that `Lock.conda` keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rookery.environments.specification.conda_names import DIFFERENT, SAME

__all__ = ["CondaLock"]


@dataclass(frozen=True)
class CondaLock:
    """What was solved.

    packages: each {name, version, build, url, sha256 …}, sorted by name, with all that is needed to install it without
        asking a channel's list again. Addresses hold no passwords.
    python_version: of the python among them.
    channels: the addresses that were asked, without passwords.
    """

    packages: tuple[dict[str, Any], ...]
    python_version: str
    channels: tuple[str, ...] = ()

    def to_lines(self) -> tuple[str, ...]:
        """One line per package: what goes into the builder's lock, and so into its key."""
        return tuple(json.dumps(p, sort_keys=True) for p in self.packages)

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> CondaLock:
        """The opposite.

        Raises:
            ValueError: they are no such lines.
        """
        packages = tuple(json.loads(line) for line in lines)
        if not all(
            isinstance(p, dict) and {"name", "version", "url", "channel", "file_name"} <= set(p) for p in packages
        ):
            raise ValueError("not the lines of a conda lock")
        channels = tuple(dict.fromkeys(str(p["channel"]) for p in packages))
        return cls(packages, _version_of("python", packages), channels)

    def specs(self) -> tuple[str, ...]:
        """For people: 'numpy 1.19.2 py36h54aff64_0'."""
        return tuple(f"{p['name']} {p['version']} {p['build']}" for p in self.packages)

    def pip_names(self) -> dict[str, str]:
        """The index's name → version of what conda installs and pip may take as given.

        Only packages that the index has too: for the others it would not know what the name means.
        """
        versions = {str(p["name"]): str(p["version"]) for p in self.packages}
        return {index: versions[own] for index, own in self.both_names()}

    def both_names(self) -> list[tuple[str, str]]:
        """(the index's name, conda's) of every Python package here that both have."""
        found = []
        for p in self.packages:
            name = str(p["name"])
            target = DIFFERENT.get(name) or (name if name in SAME else "")
            if target and any(str(d).split(" ")[0] == "python" for d in p.get("depends") or ()):
                found.append((target, name))
        return found


def _version_of(name: str, packages: Iterable[dict[str, Any]]) -> str:
    return next((str(p["version"]) for p in packages if p["name"] == name), "")
