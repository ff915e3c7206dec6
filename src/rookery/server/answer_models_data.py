"""What the routes about data answer, for the OpenAPI."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.answer_models import Answer

__all__ = [
    "DataFolder",
    "DataPreview",
    "Dataset",
    "Datastore",
    "Definition",
    "FolderEntry",
    "Manifest",
    "ManifestHead",
    "PackStored",
    "RunData",
    "RunOfData",
    "SecretNames",
    "SecretValue",
    "StoreFiles",
]


class Datastore(Answer):
    name: str
    kind: str
    type: str
    spec: dict[str, Any]
    facts: dict[str, Any]
    has_credentials: bool
    is_default: bool
    created_utc: Optional[str]
    created_by: str


class StoreFile(Answer):
    path: str
    size: int
    etag: str


class StoreFiles(Answer):
    files: list[StoreFile]
    total: int


class PackStored(Answer):
    files: int
    skipped: int
    bytes: int


class Definition(Answer):
    id: str
    definition: dict[str, Any]


class ManifestStore(Answer):
    kind: str
    name: str
    folder: Optional[str]


class ManifestHead(Answer):
    id: str
    fingerprint: str
    files: int
    bytes: int
    is_single: bool
    hashed: bool
    stores: list[ManifestStore]


class Manifest(ManifestHead):
    entries: list[list[Any]]


class Dataset(Answer):
    name: str
    version: int
    id: str
    kind: str
    definition: dict[str, Any]
    description: str
    tags: dict[str, Any]
    files: int
    bytes: int
    fingerprint: str
    manifest_id: Optional[str]
    created_utc: str
    created_by: str
    run_id: Optional[str]
    output: str
    latest_version: int
    used_by_runs: int


class RunData(Answer):
    run_id: str
    direction: str
    name: str
    mode: str
    definition_id: str
    data_name: str
    data_version: Optional[int]
    manifest_id: str
    fingerprint: str
    files: int
    bytes: int
    is_single: bool


class RunOfData(RunData):
    status: str
    display_name: str
    created_utc: str
    number: int
    by_name: bool


class FolderEntry(Answer):
    name: str
    path: str
    is_folder: bool
    bytes: int
    files: Optional[int] = None
    index: Optional[int] = None
    is_picture: Optional[bool] = None


class DataFolder(Answer):
    folder: str
    total: int
    pictures: int
    entries: list[FolderEntry]


class DataPreview(Answer):
    columns: list[str]
    rows: list[list[Any]]
    is_whole: bool


class SecretNames(Answer):
    names: list[str]


class SecretValue(Answer):
    value: str
