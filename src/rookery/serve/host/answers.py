"""What scoring comes to: an answer with a status, or a reason why there is none."""

import json

__all__ = ["Answer", "BadInput", "to_answer"]

JSON, TEXT, BYTES = "application/json", "text/plain; charset=utf-8", "application/octet-stream"


class BadInput(Exception):
    """The request is not what the model takes; its text is the answer (400)."""


class Answer(object):
    """`failed`: user code raised. `timings` are milliseconds by stage; `batch` is how many were scored together."""

    def __init__(self, body=b"", status=200, content_type=JSON, headers=(), failed=False):
        self.body, self.status, self.content_type = body, status, content_type
        self.headers = list(headers)
        self.failed = failed
        self.timings = {}
        self.batch = 1

    def head(self):
        """As it goes to the front."""
        told = {"s": self.status, "c": self.content_type, "t": self.timings}
        if self.headers:
            told["h"] = self.headers
        if self.failed:
            told["f"] = 1
        if self.batch > 1:
            told["b"] = self.batch
        return told


def to_answer(value):
    """What `run` returned, as the service answers it: an AMLResponse as it is, bytes as bytes, all else as JSON."""
    if isinstance(value, Answer):
        return value
    if isinstance(value, (bytes, bytearray)):
        return Answer(bytes(value), content_type=BYTES)
    if _is_response(value):
        return _from_response(value)
    try:
        return Answer(json.dumps(value, separators=(",", ":")).encode("utf-8"))
    except (TypeError, ValueError):
        return Answer(json.dumps(_plain(value), separators=(",", ":")).encode("utf-8"))


def _plain(value):
    """numpy's values and arrays, and what is inside of containers, as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(
        "run() returned a {} inside of its result, which is no JSON. Return numbers, texts, lists and dicts, or an "
        "AMLResponse.".format(type(value).__name__)
    )


def _is_response(value):
    """Ours, Microsoft's, or any that Flask would take."""
    return hasattr(value, "status_code") and (hasattr(value, "get_data") or hasattr(value, "data"))


def _from_response(value):
    body = value.get_data() if hasattr(value, "get_data") else value.data
    if isinstance(body, str):
        body = body.encode("utf-8")
    given = getattr(value, "headers", None) or {}
    headers = [(str(k), str(v)) for k, v in (given.items() if hasattr(given, "items") else given)]
    content_type = next((v for k, v in headers if k.lower() == "content-type"), None) or getattr(
        value, "mimetype", TEXT
    )
    dropped = ("content-type", "content-length", "connection", "transfer-encoding")
    kept = [(k, v) for k, v in headers if k.lower() not in dropped and "\n" not in k + v and "\r" not in k + v]
    failed = bool(getattr(value, "run_function_failed", False))
    return Answer(bytes(body), int(value.status_code), content_type or TEXT, kept, failed)
