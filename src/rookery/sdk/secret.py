"""Secret: the value of an environment variable that is never shown."""

from __future__ import annotations

from typing import Any, Optional

from rookery.errors import UserError
from rookery.spec.run import MASK

__all__ = ["Secret", "mask_variables", "secret_values", "unmask_variables"]


class Secret:
    """`env.environment_variables["TOKEN"] = Secret("…")`, or the same in a RunConfiguration.

    Promises: text, repr, JSON, saved files, the record and details of runs say '***'; the value travels once, is stored
    encrypted, and only the run's own processes find it. What a script prints is not masked.

    One that was read back from a file, a run or the registry has no value here; submitting it under the same registered
    environment uses the value that is stored there.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Optional[str] = None) -> None:
        if value is not None and not isinstance(value, str):
            raise UserError(f"A Secret holds text, not {type(value).__name__}. Give a string.")
        self._value = value

    @property
    def is_known(self) -> bool:
        """Whether the value is at hand here."""
        return self._value is not None

    def reveal(self) -> str:
        """The value."""
        if self._value is None:
            raise UserError("The value of this Secret is not known here. Give it again: Secret('…').")
        return self._value

    def __repr__(self) -> str:
        return f"Secret('{MASK}')"

    def __str__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(("Secret", self._value))


def mask_variables(variables: dict[str, Any]) -> dict[str, Any]:
    """The same variables, secrets as '***'."""
    return {name: MASK if isinstance(value, Secret) else value for name, value in variables.items()}


def secret_values(variables: dict[str, Any]) -> dict[str, str]:
    """The values of those that are secret and at hand."""
    return {n: v.reveal() for n, v in variables.items() if isinstance(v, Secret) and v.is_known}


def unmask_variables(variables: dict[str, Any]) -> dict[str, Any]:
    """What was masked is a Secret again, without its value."""
    return {name: Secret() if value == MASK else value for name, value in variables.items()}
