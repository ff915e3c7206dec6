"""`module_statistics/error_info.json`: how a module ended, in the shape that the designer's users know."""

from __future__ import annotations

import errno
import json
import traceback
from typing import Any, Optional

from rookery_vision.errors import (
    FailedToWriteOutputsError,
    ModuleError,
    ModuleOutOfMemoryError,
    TimeoutOccuredError,
)

__all__ = ["FILE_NAME", "error_info", "translate"]

FILE_NAME = "module_statistics/error_info.json"
MESSAGE_LIMIT = 4096
TOTAL_LIMIT = 9000


def error_info(error: Optional[BaseException]) -> str:
    """The file's text."""
    if error is None:
        return json.dumps({"Exception": None})
    if isinstance(error, ModuleError):
        kind, error_id, code = "ModuleException", error.error_id, error.code
        message = f"{error_id}: {error}"
    else:
        kind, error_id, code = "LibraryException", "LibraryException", "1000"
        message = f"Library Error - {type(error).__name__}: {error}"
    info: dict[str, Any] = {
        "ErrorId": error_id,
        "ErrorCode": code,
        "ExceptionType": kind,
        "Traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
        "Message": message[:MESSAGE_LIMIT],
    }
    for part, keep_end in (("Traceback", True), ("Message", False)):  # a traceback's end says where it was
        while info[part]:  # escapes make text longer than it looks, so it may take a few cuts
            excess = len(json.dumps({"Exception": info}, ensure_ascii=False)) - TOTAL_LIMIT
            if excess <= 0:
                break
            info[part] = info[part][excess:] if keep_end else info[part][: -max(1, excess // 6)]
    return json.dumps({"Exception": info}, ensure_ascii=False)


def translate(error: BaseException) -> BaseException:
    """The documented error that an exception of Python's or PyTorch's means, or the exception itself."""
    if isinstance(error, ModuleError):
        return error
    text = str(error)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in text:
        return ModuleOutOfMemoryError(
            f"Out of memory: {text or 'no more to be had'}. Try a smaller batch size or smaller pictures."
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ModuleOutOfMemoryError(f"The disk is full: {text}. Free some space, or write to another disk.")
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        return FailedToWriteOutputsError(f"The output cannot be written: {text}.")
    if type(error).__name__ in ("DistBackendError", "DistNetworkError", "RuntimeError") and "imed out" in text:
        return TimeoutOccuredError(
            f"Processes waited too long for each other: {text}. Look at the other ranks' logs first."
        )
    return error
