"""Keyvault: secrets of a workspace, sealed at its keeper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from rookery.errors import NotFoundError, UserError
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.workspace import Workspace

__all__ = ["Keyvault"]


class Keyvault:
    """By name. Values are encrypted in the record and shown to whoever may submit runs, and to runs."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def set_secret(self, name: str, value: str, content_type: Any = None) -> None:
        self._check(name)
        if not isinstance(value, str):
            raise UserError(f"The value of secret '{name}' must be a text.")
        self.workspace.client.request("PUT", self._route(name), body={"value": value})

    def set_secrets(self, secrets_batch: dict[str, str]) -> None:
        for name, value in secrets_batch.items():
            self.set_secret(name, value)

    def get_secret(self, name: str) -> Optional[str]:
        """The value; None where there is none of that name."""
        self._check(name)
        try:
            return str(self.workspace.client.request("GET", self._route(name))["value"])
        except NotFoundError:
            return None

    def get_secrets(self, secrets: list[str]) -> dict[str, Optional[str]]:
        return {name: self.get_secret(name) for name in secrets}

    def get_secret_content_type(self, name: str) -> None:
        """Not kept here."""

    def delete_secret(self, name: str) -> None:
        self._check(name)
        self.workspace.client.request("DELETE", self._route(name))

    def delete_secrets(self, secrets: list[str]) -> None:
        for name in secrets:
            self.delete_secret(name)

    def list_secrets(self) -> list[dict[str, Any]]:
        """Their names, never their values."""
        return [{"name": name} for name in self.workspace.client.request("GET", "/keyvault")["names"]]

    def _route(self, name: str) -> str:
        return f"/keyvault/{quote_path(name)}"

    def _check(self, name: Any) -> None:
        if not isinstance(name, str) or not name or "/" in name:
            raise UserError(f"{name!r} is no name of a secret. Give a text without '/'.")
