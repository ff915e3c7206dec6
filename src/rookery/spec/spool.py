"""The spool: HTTP as files, for nodes that share the keeper's files and cannot reach it. Names and heads; pure.

In the folder of one node's share (`WorkspacePaths.spool_of`), for a request with the id `<session>-<number>`:

| file | by | what |
|---|---|---|
| `<id>.body` | agent | the body, where it is large; complete before `.req` is there |
| `<id>.req` | agent | a line of JSON `{"method","target","headers","size","apart"}`, and the body where it is small |
| `<id>.run` | keeper | the same file, renamed: it is being carried out. Touched every few seconds while it is |
| `<id>.out` | keeper | the body of the answer, where it is large or a stream |
| `<id>.ans` | keeper | a line of JSON `{"status","reason","headers","size","apart","stream"}`, and the body where it is small |
| `<id>.more` | keeper | empty; renamed to this whenever a stream has grown, which wakes whoever reads it |
| `<id>.end` | keeper | a stream is over |
| `<id>.stop` | agent | the answer is not wanted any more |

What is read by the other side appears by rename, so it is whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

__all__ = ["INLINE_BYTES", "MAX_HEAD_BYTES", "AnswerHead", "RequestHead", "pack", "unpack"]

INLINE_BYTES = 64 * 1024
MAX_HEAD_BYTES = 256 * 1024


@dataclass(frozen=True)
class RequestHead:
    method: str
    target: str  # path and query, as in HTTP
    headers: tuple[tuple[str, str], ...] = ()
    size: int = 0
    apart: bool = False  # the body is in a file of its own


@dataclass(frozen=True)
class AnswerHead:
    status: int
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = field(default_factory=tuple)
    size: int = 0
    apart: bool = False
    stream: bool = False  # the body goes on growing until there is an `.end`


def pack(head: RequestHead | AnswerHead, body: bytes = b"") -> bytes:
    return json.dumps(vars(head), separators=(",", ":")).encode("ascii") + b"\n" + body


def unpack(kind: type, data: bytes) -> tuple[RequestHead | AnswerHead, bytes]:
    """A head of this kind and the body that lies beside it.

    Raises:
        ValueError: it is not one.
    """
    line, _, body = data.partition(b"\n")
    try:
        given = json.loads(line)
        given["headers"] = tuple((str(name), str(value)) for name, value in given["headers"])
        return kind(**given), body
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a head: {error}") from None
