"""The lock: everything that decides what a built environment is, and the key by which it is found."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any

from rookery.environments.python.interpreters import Interpreter
from rookery.environments.specification.requirement import mask

__all__ = ["BUILDER_VERSION", "Lock", "platform_tag"]

BUILDER_VERSION = 1  # raise when the same lock would be built differently: all keys change
_NOT_IN_KEY = ("python_requested", "deviations", "notes", "name")
KEY_LENGTH = 32  # hex digits of the SHA-256: interpreter paths have to stay short enough for a script's first line


@dataclass(frozen=True)
class Lock:
    """One resolved environment.

    packages: the text of a requirements file with exact versions and hashes, of the whole environment.
    conda: the same for conda packages, as exact specs.
    asked: names of the distributions that the specification asked for itself; each is imported once after
    the build.
    deviations: what differs from the specification; each becomes a warning of the run. notes: worth knowing,
    no warning.
    """

    python_requested: str
    python_version: str
    python_path: str
    python_build: str
    packages: str = ""
    conda: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    platform: str = ""
    builder: int = BUILDER_VERSION
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def of(cls, interpreter: Interpreter, **values: Any) -> Lock:
        return cls(
            python_version=interpreter.version,
            python_path=interpreter.path,
            python_build=interpreter.build,
            platform=platform_tag(),
            **values,
        )

    @cached_property
    def key(self) -> str:
        """Addressed by content: what was asked for in other words but resolved to the same has the same key."""
        values = {k: v for k, v in asdict(self).items() if k not in _NOT_IN_KEY}
        values["packages"] = mask(self.packages)
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:KEY_LENGTH]

    @property
    def num_packages(self) -> int:
        return sum(1 for line in self.packages.splitlines() if line and not line[0].isspace() and line[0] not in "#-")

    def to_data(self) -> dict[str, Any]:
        return {**asdict(self), "key": self.key}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Lock:
        """The lock that `to_data` gave.

        Raises:
            ValueError: it is not one, or of another builder.
        """
        names = {f.name for f in fields(cls)}
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in names}
        try:
            lock = cls(**values)
        except TypeError as error:
            raise ValueError(f"not a lock: {error}") from error
        if lock.builder != BUILDER_VERSION or data.get("key") != lock.key:
            raise ValueError("a lock of another builder, or damaged")
        return lock


@lru_cache(maxsize=1)
def platform_tag() -> str:
    """System, machine and C library: 'linux-x86_64-glibc2.36'. Wheels chosen on one may not run on another."""
    library, version = platform.libc_ver()
    return f"{platform.system().lower()}-{platform.machine()}-{library}{version}".rstrip("-")
