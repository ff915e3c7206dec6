"""One request to a service: straight to its address where that is of this machine, else through the keeper."""

from __future__ import annotations

import http.client
import json
import os
from typing import Any, Callable, Optional, Union
from urllib.parse import urlsplit

from rookery.errors import ModelError
from rookery.sdk.context import is_in_run
from rookery.worker.http import quote_path

__all__ = ["Answer", "ask_service", "decode_answer"]

TIMEOUT_S = 3600.0  # the service has time limits of its own, which say what was wrong
_PICTURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)
Answer = tuple[int, dict[str, str], bytes]


def ask_service(
    workspace: Any,
    endpoint: dict[str, Any],
    body: Union[str, bytes, bytearray],
    content_type: str = "",
    key: Callable[[], Optional[str]] = lambda: None,
) -> Answer:
    """POST `body` to a service; (status, headers, bytes), whatever the status.

    Args:
        endpoint: as the keeper tells it.
        content_type: empty: what the body looks like, JSON where it looks like nothing else.
        key: gives a key or token of the service. Asked only for its own address: the keeper passes on whatever those who may
            read the workspace ask.

    Raises:
        KeeperUnavailableError: nothing answers.
    """
    data = body.encode("utf-8") if isinstance(body, str) else bytes(body)
    headers = {"Content-Type": content_type or guess_type(data)}
    if _is_here(workspace):
        opens = key()
        try:
            return _direct(
                endpoint["scoring_uri"], data, {**headers, "Authorization": f"Bearer {opens}"} if opens else headers
            )
        except OSError:
            pass  # a front that is being replaced; the keeper knows where the next one is
    path = f"/service/{quote_path(endpoint['name'])}/score"
    return workspace.client.raw("POST", path, data, headers, timeout_s=TIMEOUT_S)


def _is_here(workspace: Any) -> bool:
    """Whether the keeper's machine is this one: only there does the service's own address lead to it."""
    return bool(workspace.root) and not is_in_run() and not workspace.client.url and os.path.isdir(workspace.root)


def guess_type(data: bytes) -> str:
    """The media type of a body, by its first bytes."""
    for start, name in _PICTURES:
        if data.startswith(start):
            return name
    if data.startswith(b"\x93NUMPY"):
        return "application/x-npy"
    return "application/json"


def decode_answer(name: str, answer: Answer) -> Any:
    """What the scoring script returned: JSON decoded, text, or bytes.

    Raises:
        ModelError: the service did not answer 200; `status_code` and the text are in it.
    """
    status, headers, data = answer
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if status >= 300:
        text = data.decode("utf-8", "replace")
        raise ModelError(
            f"Received bad response from service '{name}'. More information can be found by calling `.get_logs()` on the "
            f"webservice object.\nResponse Code: {status}\nHeaders: {headers}\nContent: {text}",
            status_code=status,
        )
    if kind == "application/octet-stream" or kind.startswith("image/"):
        return data
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _direct(uri: str, data: bytes, headers: dict[str, str]) -> Answer:
    parts = urlsplit(uri)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=TIMEOUT_S)
    try:
        connection.request("POST", parts.path, body=data, headers=headers)
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from error
    finally:
        connection.close()
