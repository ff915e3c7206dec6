"""The settings that decide how environments are built, read once per build."""

from __future__ import annotations

from dataclasses import dataclass

from rookery.environments.conda.solve import conda_mode
from rookery.environments.specification.requirement import SOURCES
from rookery.errors import ConfigError
from rookery.settings import get_setting

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """See docs/settings.md for each."""

    original_packages: tuple[str, ...] = ()
    allow_python_drift: bool = False
    requirement_sources: tuple[str, ...] = ("https",)
    timeout_s: float = 3600.0
    retry_s: float = 300.0
    conda: str = "auto"

    @classmethod
    def read(cls, workspace_root: str | None = None) -> Policy:
        """The policy in force.

        Raises:
            ConfigError: a setting cannot be read.
        """
        sources = _words(get_setting("requirement_sources", workspace_root))
        unknown = [s for s in sources if s not in SOURCES]
        if unknown:
            raise ConfigError(f"requirement_sources: {unknown[0]!r} is not known. Known: {', '.join(SOURCES)}.")
        return cls(
            original_packages=_words(get_setting("original_packages", workspace_root)),
            allow_python_drift=get_setting("allow_python_drift", workspace_root),
            requirement_sources=sources,
            timeout_s=get_setting("environment_build_timeout_s", workspace_root),
            retry_s=get_setting("environment_retry_s", workspace_root),
            conda=conda_mode(workspace_root),
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted({w.strip().lower() for w in text.split(",") if w.strip()}))
