"""The arguments of one call, checked as they are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from fastapi import Request

from rookery.record import Record
from rookery.server.auth import Principal
from rookery.server.mlflow.access import check_run
from rookery.server.mlflow.errors import invalid
from rookery.server.services import Services

__all__ = ["Call"]


@dataclass
class Call:
    """services and who asks; `args` from the body and the query, `path` from the address."""

    services: Services
    principal: Principal
    args: dict[str, Any]
    path: dict[str, str]
    request: Request

    @property
    def record(self) -> Record:
        return self.services.record

    def text(self, name: str, default: Optional[str] = None) -> str:
        """A text; required where no default is given. Numbers count: clients send ids as either."""
        value = self.args.get(name)
        if value is None or (value == "" and default is None):
            if default is None:
                raise invalid(f"Missing value for required parameter '{name}'.")
            return default
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise invalid(f"Invalid value {value!r:.100} for parameter '{name}' supplied: it must be a string.")
        return str(value)

    def integer(self, name: str, default: Optional[int] = None, low: int = -(2**63), high: int = 2**63 - 1) -> int:
        value = self.args.get(name)
        if value is None or value == "":
            if default is None:
                raise invalid(f"Missing value for required parameter '{name}'.")
            return default
        try:
            if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
                raise ValueError
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise invalid(
                f"Invalid value {value!r:.100} for parameter '{name}' supplied: it must be an integer."
            ) from None
        if not low <= number <= high:
            raise invalid(
                f"Invalid value {number} for parameter '{name}' supplied: it must be between {low} and {high}."
            )
        return number

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.args.get(name)
        if value is None:
            return default
        if value in (True, "true", "True", 1, "1"):
            return True
        if value in (False, "false", "False", 0, "0"):
            return False
        raise invalid(f"Invalid value {value!r:.100} for parameter '{name}' supplied: it must be true or false.")

    def items(self, name: str) -> list[dict[str, Any]]:
        """A list of objects, empty where it is not given."""
        found = self.args.get(name) or []
        if not isinstance(found, list) or (found and set(map(type, found)) != {dict}):
            raise invalid(f"Invalid value for parameter '{name}' supplied: it must be a list of objects.")
        return found

    def texts(self, name: str) -> list[str]:
        found = self.args.get(name)
        found = [] if found is None or found == "" else found if isinstance(found, list) else [found]
        if any(isinstance(item, (dict, list)) for item in found):
            raise invalid(f"Invalid value for parameter '{name}' supplied: it must be a list of strings.")
        return [str(item) for item in found]

    def pairs(self, name: str) -> dict[str, str]:
        """[{"key", "value"}…] as a dict; the last of a key stands."""
        found = {}
        for item in self.items(name):
            key = item.get("key")
            if not isinstance(key, str) or not key:
                raise invalid(f"Missing value for required parameter '{name}[].key'.")
            value = item.get("value")
            found[key] = "" if value is None else value if isinstance(value, str) else str(value)
        return found

    def run_id(self) -> str:
        value = self.args.get("run_id") or self.args.get("run_uuid")
        if not isinstance(value, str):
            raise invalid("Missing value for required parameter 'run_id'.")
        return value

    def own_run_id(self) -> str:
        """The run that is written to, once it is certain that the caller may."""
        run_id = self.run_id()
        check_run(self.services, self.principal, run_id)
        return run_id

    def check_run(self, run_id: Optional[str]) -> None:
        check_run(self.services, self.principal, run_id)
