"""Bodies of what the studio asks and does: searches, comparisons, actions on many runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

from pydantic import Field

from rookery.server.schemas import Given

__all__ = ["ActionAsked", "AliasGiven", "CompareAsked", "ReproduceAsked", "SearchAsked", "SeriesAsked"]

Name = Annotated[str, Field(max_length=1024)]
Names = Annotated[list[Name], Field(max_length=200)]
RunIds = Annotated[list[Annotated[str, Field(max_length=255)]], Field(min_length=1, max_length=50)]
Kind = Literal["metric", "param", "tag", "attribute"]


class RunCondition(Given):
    kind: Kind
    key: Name
    op: Annotated[str, Field(max_length=20)] = "="
    value: Any = None


class Sorting(Given):
    kind: Kind = "attribute"
    key: Name
    ascending: bool = True


class ColumnChoice(Given):
    metrics: Optional[Names] = None
    params: Optional[Names] = None
    tags: Optional[Names] = None


class Sparklines(Given):
    metrics: Annotated[list[Name], Field(max_length=4)] = []
    points: Annotated[int, Field(ge=2, le=200)] = 40


class SearchAsked(Given):
    where: Annotated[list[RunCondition], Field(max_length=50)] = []
    text: Annotated[str, Field(max_length=500)] = ""
    experiments: Names = []
    statuses: Names = []
    computes: Names = []
    kinds: Names = []
    users: Names = []
    parent: Optional[Name] = None
    include_children: bool = False
    archived: Literal["no", "only", "all"] = "no"
    deleted: bool = False
    sort: Annotated[list[Sorting], Field(max_length=3)] = []
    columns: ColumnChoice = ColumnChoice()
    sparklines: Sparklines = Sparklines()
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[Optional[str], Field(max_length=20_000)] = None
    count: bool = False


class SeriesAsked(Given):
    runs: RunIds
    names: Annotated[list[Name], Field(min_length=1, max_length=20)]
    points: Annotated[int, Field(ge=2, le=5000)] = 500
    x: Literal["step", "time", "index"] = "step"
    from_: Annotated[Optional[float], Field(alias="from")] = None
    to: Optional[float] = None


class CompareAsked(Given):
    runs: RunIds


class ActionAsked(Given):
    action: Literal["tag", "cancel", "archive", "unarchive", "delete", "restore", "resubmit"]
    run_ids: Annotated[list[Annotated[str, Field(max_length=255)]], Field(min_length=1, max_length=500)]
    tags: dict[str, Any] = {}
    remove_tags: list[str] = []


class ReproduceAsked(Given):
    compute: Optional[str] = None
    display_name: Optional[str] = None
    arguments: Optional[list[str]] = None
    tags: dict[str, Any] = {}


class AliasGiven(Given):
    version: Optional[int] = None
