"""The log of a server: one JSON object per line, or plain text; both with the id of the request."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from rookery.server.reception import current_request_id

__all__ = ["FORMATS", "start_logging"]

FORMATS = ("text", "json")
_OWN = (
    "request_id", "method", "path", "route", "status", "duration_ms", "who", "address", "webhook", "delivery",
)  # fmt: skip


def start_logging(form: str, level: int = logging.WARNING, requests: bool = False) -> None:
    """Everything goes to stderr. With `requests` one line for each, but those of agents that went well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_with_request_id)
    handler.setFormatter(_Json() if form == "json" else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("rookery.requests").setLevel(logging.INFO if requests else logging.ERROR)


def _with_request_id(record: logging.LogRecord) -> bool:
    if getattr(record, "request_id", None) is None:
        record.request_id = current_request_id()
    return True


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update({key: getattr(record, key) for key in _OWN if getattr(record, key, None) is not None})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class _Text(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        request_id = getattr(record, "request_id", None)
        duration = getattr(record, "duration_ms", None)
        more = [f"{duration} ms"] if duration is not None else []
        more += [str(getattr(record, "who", None) or "")] if getattr(record, "who", None) else []
        more += [f"request {request_id}"] if request_id else []
        # Names from outside are in the message: nothing of them may begin a line of its own.
        first, newline, rest = text.partition("\n") if record.exc_info else (text.replace("\n", "\\n"), "", "")
        return first + (f" [{', '.join(more)}]" if more else "") + newline + rest
