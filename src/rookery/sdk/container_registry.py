"""Where a base image comes from. The password is not sent to the keeper: `podman login` on its machine is the way in."""

from __future__ import annotations

from typing import Optional

from rookery.sdk.element import Element

__all__ = ["ContainerRegistry", "RegistryIdentity"]


class RegistryIdentity(Element):
    def __init__(self) -> None:
        self.resource_id: Optional[str] = None
        self.client_id: Optional[str] = None


class ContainerRegistry(Element):
    _element_types = {"registry_identity": RegistryIdentity}

    def __init__(self) -> None:
        self.address: Optional[str] = None
        self.username: Optional[str] = None
        self.password: Optional[str] = None
        self.registry_identity: Optional[RegistryIdentity] = None

    def __repr__(self) -> str:
        return f"ContainerRegistry(address={self.address!r}, username={self.username!r})"
