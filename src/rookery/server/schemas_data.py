"""Bodies of what is about data."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.schemas import Given

__all__ = ["DatasetChange", "DatasetNew", "DatastoreNew"]


class DatastoreNew(Given):
    name: str
    kind: str
    spec: dict[str, Any]
    credentials: Optional[dict[str, Any]] = None
    overwrite: bool = False
    check: bool = True  # look at it before it is kept


class DatasetNew(Given):
    name: str
    definition: Optional[dict[str, Any]] = None
    definition_id: Optional[str] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    create_new_version: bool = False
    run_id: Optional[str] = None


class DatasetChange(Given):
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    remove_tags: list[str] = []
    replace_tags: bool = False
