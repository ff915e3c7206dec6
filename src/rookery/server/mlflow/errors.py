"""MLflow's errors: {"error_code", "message"}, and which of ours is which of theirs."""

from __future__ import annotations

import logging
from typing import Any

from rookery.errors import (
    AuthenticationError,
    ConflictError,
    ModelNotFoundError,
    NotFoundError,
    RookeryError,
    StorageError,
    UserError,
)
from rookery.server.errors import ForbiddenError

__all__ = ["STATUS", "MlflowError", "invalid", "missing", "translated"]

log = logging.getLogger(__name__)

STATUS = {
    "INVALID_PARAMETER_VALUE": 400,
    "BAD_REQUEST": 400,
    "RESOURCE_ALREADY_EXISTS": 400,
    "RESOURCE_DOES_NOT_EXIST": 404,
    "ENDPOINT_NOT_FOUND": 404,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_IMPLEMENTED": 501,
    "RESOURCE_EXHAUSTED": 507,
    "INTERNAL_ERROR": 500,
}


class MlflowError(Exception):
    """An error with a code of MLflow's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    @property
    def status(self) -> int:
        return STATUS[self.code]

    def plain(self) -> dict[str, Any]:
        return {"error_code": self.code, "message": self.message}


def invalid(message: str) -> MlflowError:
    return MlflowError("INVALID_PARAMETER_VALUE", message)


def missing(message: str) -> MlflowError:
    return MlflowError("RESOURCE_DOES_NOT_EXIST", message)


def translated(error: BaseException) -> MlflowError:
    """Any error as one of MLflow's. What nobody foresaw goes to the keeper's log."""
    if isinstance(error, MlflowError):
        return error
    for kind, code in _TABLE:
        if isinstance(error, kind):
            return MlflowError(code, str(error))
    if isinstance(error, ConflictError):
        if error.details.get("deleted"):
            return invalid(f"{error} It must be in the 'active' state. Current state is deleted.")
        if "given" in error.details:
            return _changed_param(error)
        return MlflowError(
            "RESOURCE_ALREADY_EXISTS" if error.details.get("exists") else "INVALID_PARAMETER_VALUE", str(error)
        )
    if isinstance(error, RookeryError) and error.http_status < 500:
        return invalid(str(error))
    log.error("Internal error", exc_info=error)
    return MlflowError(
        "INTERNAL_ERROR",
        f"The keeper failed at this request ({type(error).__name__}). Its log, keeper/keeper.log, has the traceback.",
    )


def _changed_param(error: ConflictError) -> MlflowError:
    key, old, new = (error.details[name] for name in ("key", "value", "given"))
    return invalid(
        f"Changing param values is not allowed. Param with key='{key}' was already logged with value='{old}'. "
        f"Attempted logging new value '{new}'. {error}"
    )


# The first that fits.
_TABLE: tuple[tuple[type[BaseException], str], ...] = (
    (ForbiddenError, "PERMISSION_DENIED"),
    (AuthenticationError, "UNAUTHENTICATED"),
    (ModelNotFoundError, "RESOURCE_DOES_NOT_EXIST"),
    (NotFoundError, "RESOURCE_DOES_NOT_EXIST"),
    (StorageError, "RESOURCE_EXHAUSTED"),
    (UserError, "INVALID_PARAMETER_VALUE"),
)
