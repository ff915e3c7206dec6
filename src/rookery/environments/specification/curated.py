"""Curated environments: names that code asks for, and what each of them holds here.

By default a name means today's versions for this machine: an environment of 2020 called PyTorch 1.6 gives today's torch under
the Python that the keeper runs on, because scripts of then run on it and old wheels often do not. With the setting
`curated_literal` it means the versions that the name says. The definitions are code, not rows: they are served by the routes of
the registry, always as version 1, and cannot be changed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional

from rookery.environments.specification.curated_names import CURATED, TODAY, Entry
from rookery.errors import EnvironmentNotFoundError, UserError
from rookery.settings import get_setting
from rookery.spec.names import is_reserved_environment
from rookery.spec.run import EnvironmentSpec

__all__ = ["VERSION", "Curated", "check_own_name", "check_unedited", "curated_environments", "find_curated"]

VERSION = "1"
_BY_NAME = {entry.name.lower(): entry for entry in CURATED}


@dataclass(frozen=True)
class Curated:
    """maps_to: one sentence for people. definition: as in azureml_environment.json."""

    name: str
    maps_to: str
    definition: dict[str, Any]

    def to_plain(self) -> dict[str, Any]:
        """As the registry's own environments are told."""
        return {
            "name": self.name,
            "version": VERSION,
            "definition": self.definition,
            "labels": [],
            "created_utc": None,
            "created_by": "rookery",
            "curated": True,
            "maps_to": self.maps_to,
        }


def curated_environments(workspace_root: Optional[str] = None) -> list[Curated]:
    """All of them, in the order of the list."""
    literal = get_setting("curated_literal", workspace_root)
    return [_make(entry, literal) for entry in CURATED]


def find_curated(
    name: str, version: Optional[str] = None, label: Optional[str] = None, workspace_root: Optional[str] = None
) -> Optional[Curated]:
    """The one of this name (capitals do not count), or None where it is not a curated name.

    Raises:
        EnvironmentNotFoundError: the name begins as curated ones do and there is none, or not in this version.
    """
    entry = _BY_NAME.get(name.lower())
    if entry is None:
        if is_reserved_environment(name):
            known = ", ".join(e.name for e in CURATED)
            raise EnvironmentNotFoundError(f"There is no curated environment '{name:.255}'. Known: {known}.")
        return None
    if (version is not None and str(version) != VERSION) or (label is not None and label.lower() != "latest"):
        asked = f"version {version!r:.40}" if version is not None else f"label {label!r:.40}"
        raise EnvironmentNotFoundError(
            f"Curated environment '{entry.name}' has no {asked}; it has version '{VERSION}'."
        )
    return _make(entry, get_setting("curated_literal", workspace_root))


def check_own_name(name: str) -> None:
    """Raises UserError for a name that a curated environment has."""
    entry = _BY_NAME.get(name.lower())
    if entry is not None:
        raise UserError(
            f"'{entry.name}' is a curated environment and cannot be registered. Take a copy: env.clone('my-name')."
        )


def check_unedited(spec: EnvironmentSpec) -> None:
    """A run may not call curated what it has changed: what is shown must be what ran.

    Raises:
        UserError: the packages are not those of the curated environment of that name.
    """
    entry = _BY_NAME.get(spec.name.lower())
    if entry is None:
        return
    held = [_conda(entry, literal) for literal in (False, True)]
    if spec.user_managed or spec.conda not in held:
        raise UserError(
            f"Environment '{spec.name}' differs from the curated environment of that name, which cannot be edited. "
            f"Take a copy and edit that: env = Environment.get(ws, '{entry.name}').clone('my-name')."
        )


def _make(entry: Entry, literal: bool) -> Curated:
    conda = _conda(entry, literal)
    return Curated(
        entry.name,
        _sentence(entry, literal),
        {
            "name": entry.name,
            "version": VERSION,
            "python": {
                "interpreterPath": "python",
                "userManagedDependencies": False,
                "condaDependencies": conda,
            },
        },
    )


def _conda(entry: Entry, literal: bool) -> dict[str, Any]:
    is_literal = _is_literal(entry, literal)
    python = entry.python if is_literal else "{}.{}".format(*sys.version_info)
    packages = entry.literal if is_literal else TODAY[entry.family]
    return {
        "name": "curated",
        "channels": ["conda-forge"],
        "dependencies": [f"python={python}", {"pip": ["azureml-defaults", *packages]}],
    }


def _is_literal(entry: Entry, wanted: bool) -> bool:
    """Chainer has no today; ours have no past."""
    return bool(entry.literal) and (wanted or not TODAY[entry.family])


def _sentence(entry: Entry, literal: bool) -> str:
    if _is_literal(entry, literal):
        words = f"Python {entry.python} with {', '.join(entry.literal)}, as its name says"
        why = "" if TODAY[entry.family] else "; its framework has ended, so there is nothing newer to stand for it"
        return f"{words}{why}. It can be built where an interpreter and wheels of that age can be had."
    python = "Python {}.{}".format(*sys.version_info)
    main = ", ".join(TODAY[entry.family][:4])
    words = f"Today's {main} for this machine, under {python}." if main else f"{python} and the SDK, nothing else."
    return f"{words} The versions that the name says: setting curated_literal." if entry.literal else words
