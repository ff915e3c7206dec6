"""What routes take, as types, where the handler parses the body itself. Only for the OpenAPI, as `answer_models`: what is
refused, and in which words, is the handler's to say."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from rookery.spec.cause import Cause
from rookery.spec.run import EnvironmentSpec, RunSpec

__all__ = ["Body"]

Text = Optional[str]


class Body(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


def _fields_of(shape: Any) -> dict[str, Any]:
    """The fields of a dataclass, for a model that has them and others."""
    hints, found = typing.get_type_hints(shape), {}
    for field in dataclasses.fields(shape):
        default = field.default
        if default is dataclasses.MISSING:
            made = field.default_factory
            default = ... if made is dataclasses.MISSING else Field(default_factory=made)
        found[field.name] = (hints[field.name], default)
    return found


NewRun = create_model(
    "NewRun",
    __doc__="A RunSpec, and the values of variables that it only names.",
    __config__=ConfigDict(extra="forbid"),
    **_fields_of(RunSpec),
    secret_values=(Optional[dict[str, str]], None),
)


class Records(Body):
    """Records as in a journal: [kind, run or null, …]."""

    records: list[list[Any]]


class Hashes(Body):
    sha256: list[str]


class SnapshotEntry(Body):
    path: str
    sha256: str
    size: int
    mode: int
    link: Text = None


class NewSnapshot(Body):
    entries: list[SnapshotEntry]


class NewDefinition(Body):
    """How a data set is made; `spec/data.py` says which steps there are."""

    definition: dict[str, Any]


class NewEnvironment(Body):
    model_config = ConfigDict(extra="forbid")

    definition: dict[str, Any]
    secret_values: Optional[dict[str, str]] = None


class WantedEnvironment(Body):
    model_config = ConfigDict(extra="forbid")

    spec: EnvironmentSpec


class NewBuild(WantedEnvironment):
    fresh: bool = False


class AgentIs(Body):
    """Who an agent is, when it comes (again)."""

    protocol: Optional[int] = None
    pid: Optional[int] = None
    start_ticks: Optional[int] = None
    hostname: Text = None
    version: Text = None
    mode: Text = None
    machine: Text = None


class StartedRank(Body):
    rank: int
    pid: Optional[int] = None


class StartedRanks(Body):
    ranks: list[StartedRank] = []


class MeetingPlace(Body):
    address: str
    port: int


class Beaten(Body):
    """A sign of life: how the machine is, and for how long no rank of this node has moved."""

    samples: Optional[list[dict[str, Any]]] = None
    state: Text = None
    still_s: Optional[float] = None


class Block(Body):
    """Values of one metric: base64 of little-endian numbers, or with dtype `j` a list."""

    run: Text = None
    name: str
    n: int
    dtype: typing.Literal["d", "q", "j"]
    values: Union[str, list[Any]]
    steps: Text = None
    times: str


class JournalPart(Body):
    journal: str
    begin: int = Field(alias="from")
    to: int
    blocks: list[Block] = []
    records: list[list[Any]] = []


class EndedRank(Body):
    rank: int
    exit_code: Optional[int] = None
    signal: Optional[int] = None


class NodeOutcome(Body):
    result: typing.Literal["completed", "failed", "canceled", "lost"]
    exit_code: Optional[int] = None
    signal: Optional[int] = None
    cause: Optional[Cause] = None
    ranks: list[EndedRank] = []
    ended: Optional[float] = None


class Warned(Body):
    warnings: list[str] = []
