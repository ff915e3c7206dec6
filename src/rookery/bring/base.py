"""The seam: what a source of runs tells, in plain data. Times are unix milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Optional, Protocol

__all__ = ["Experiment", "File", "LoggedModel", "Registered", "Run", "Source", "Value", "Version"]

Value = tuple[float, int, int]  # (value, step, time in milliseconds)


@dataclass
class Experiment:
    id: str
    name: str
    created_ms: Optional[int] = None
    is_deleted: bool = False
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Run:
    """`metrics` are the names of its metrics. `inputs` as `POST /past/runs` takes them."""

    id: str
    experiment_id: str
    name: str = ""
    user: str = ""
    status: str = "FINISHED"
    began_ms: Optional[int] = None
    ended_ms: Optional[int] = None
    deleted_ms: Optional[int] = None
    is_deleted: bool = False
    artifacts: str = ""
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class LoggedModel:
    id: str
    experiment_id: str
    name: str
    run_id: str = ""
    type: str = ""
    status: str = "ready"
    created_ms: int = 0
    modified_ms: int = 0
    is_deleted: bool = False
    artifacts: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Version:
    number: int
    source: str = ""
    run_id: str = ""
    run_link: str = ""
    model_id: str = ""
    description: str = ""
    stage: str = "None"
    user: str = ""
    created_ms: int = 0
    modified_ms: Optional[int] = None
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Registered:
    name: str
    description: str = ""
    created_ms: Optional[int] = None
    modified_ms: Optional[int] = None
    tags: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, int] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)


@dataclass(frozen=True)
class File:
    """One artifact: its path inside the run or model, and what the source needs to open it."""

    path: str
    size: Optional[int]
    handle: Any = None


class Source(Protocol):
    """Where runs come from.

    Promises: reads only; what it yields is the same in every call unless the source has changed; parents come before their
    children; a run that is deleted there is yielded with `is_deleted`. What cannot be read is an error that names it.
    """

    words: str  # what it is, for people

    def experiments(self) -> list[Experiment]: ...

    def count_runs(self, experiment_ids: Sequence[str]) -> int: ...

    def runs(self, experiment: Experiment) -> Iterator[Run]: ...

    def values(self, run: Run, metric: str) -> Iterable[Value]: ...

    def logged_models(self, experiment: Experiment) -> Iterator[LoggedModel]: ...

    def registered(self) -> Iterator[Registered]: ...

    def files(self, of: Any) -> Iterator[File]:
        """The artifacts of a Run or a LoggedModel. SourceGone (an OSError) where the place cannot be reached."""
        ...

    def open(self, file: File) -> BinaryIO: ...

    def close(self) -> None: ...
