"""Who drives runs that have no process of their own: a tuning makes children, a pipeline makes steps."""

from __future__ import annotations

from typing import Any, Protocol

from rookery.errors import RunConfigError
from rookery.spec.run import RunSpec

__all__ = ["Driver", "Drivers"]


class Driver(Protocol):
    """Drives all runs of one kind (`spec.run.RunKind.DRIVEN`), in the keeper.

    Promises: what it decides is stored before it is done, and everything that it does can be done again; so a keeper that
    is killed anywhere is followed by one that carries on (`start` takes up every run of its kind that is not over). None of
    these calls waits for slow work, and none is made in the controller's thread, so a driver may call the controller.
    """

    kind: str

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def check(self, spec: RunSpec) -> None:
        """Raise for what can never run; called before the record has the run."""

    def submitted(self, run_id: str) -> None:
        """The record has a new run of this kind. Told twice it is taken up once."""

    def cancel(self, run_id: str) -> None:
        """Stop it and what it has started. Returns when the wish is stored; harmless when it is over."""

    def count(self) -> int:
        """How many are not over: the keeper does not leave before them."""


class Drivers:
    """The driver of every kind."""

    def __init__(self) -> None:
        self._drivers: dict[str, Driver] = {}

    def add(self, driver: Driver) -> None:
        self._drivers[driver.kind] = driver

    def of(self, kind: str) -> Any:
        """The driver of a kind.

        Raises:
            RunConfigError: this keeper has none.
        """
        if kind not in self._drivers:
            raise RunConfigError(
                f"This keeper drives no runs of kind '{kind}'. Known: {', '.join(sorted(self._drivers)) or 'none'}."
            )
        return self._drivers[kind]

    def start(self) -> None:
        for driver in self._drivers.values():
            driver.start()

    def stop(self) -> None:
        for driver in self._drivers.values():
            driver.stop()

    def count(self) -> int:
        return sum(driver.count() for driver in self._drivers.values())
