"""Bodies about endpoints; their form in words is in docs/inside/serve.md."""

from __future__ import annotations

from typing import Any, Optional

from rookery.server.schemas import Given

__all__ = ["EndpointChange", "EndpointNew", "KeyNew", "ModelRef", "PackageNew", "ProfileNew", "VersionPut"]


class ModelRef(Given):
    name: str
    version: Optional[int] = None


class EndpointNew(Given):
    name: str
    kind: str = "local"
    models: list[ModelRef] = []
    inference: Optional[dict[str, Any]] = None
    config: dict[str, Any] = {}
    auth_enabled: Optional[bool] = None
    token_auth_enabled: Optional[bool] = None
    port: Optional[int] = None
    primary_key: Optional[str] = None
    secondary_key: Optional[str] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    properties: Optional[dict[str, Any]] = None
    version_name: Optional[str] = None
    traffic: Optional[float] = None
    overwrite: bool = False


class EndpointChange(Given):
    models: list[ModelRef] = []
    inference: Optional[dict[str, Any]] = None
    config: dict[str, Any] = {}
    auth_enabled: Optional[bool] = None
    token_auth_enabled: Optional[bool] = None
    port: Optional[int] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    remove_tags: list[str] = []
    properties: Optional[dict[str, Any]] = None


class VersionPut(Given):
    models: list[ModelRef] = []
    inference: Optional[dict[str, Any]] = None
    config: dict[str, Any] = {}
    traffic: Optional[float] = None
    is_default: Optional[bool] = None
    description: Optional[str] = None
    tags: Optional[dict[str, Any]] = None
    properties: Optional[dict[str, Any]] = None


class KeyNew(Given):
    key: str
    value: Optional[str] = None


class ProfileNew(Given):
    name: str
    models: list[ModelRef] = []
    inference: Optional[dict[str, Any]] = None
    inputs: list[str]
    cpu: Optional[float] = None
    memory_in_gb: Optional[float] = None
    description: Optional[str] = None


class PackageNew(Given):
    models: list[ModelRef] = []
    inference: Optional[dict[str, Any]] = None
