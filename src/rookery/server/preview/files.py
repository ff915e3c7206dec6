"""A preview of one file: by its name first, by its bytes where they say something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, BinaryIO

from rookery.server.preview import pictures
from rookery.server.preview.kinds import kind_of
from rookery.server.preview.onnx import OnnxError, summarize_onnx
from rookery.server.preview.parquet import ParquetError, parquet_head
from rookery.server.preview.tables import json_lines, separated

__all__ = ["preview_file"]

HEAD = 256 * 1024
MAX_JSON = 2 * 1024 * 1024


def preview_file(name: str, size: int, open_file: Callable[[], BinaryIO], rows: int = 100) -> dict[str, Any]:
    """{"name", "size", "kind", …}; docs/inside/studio-api.md says what each kind has."""
    kind = kind_of(name)
    told: dict[str, Any] = {"name": name, "size": size}
    with open_file() as file:
        head = file.read(min(HEAD, size))
        if kind == "onnx":
            return {**told, **_onnx(file, size)}
        if head[:4] == b"PAR1":
            return {**told, **_parquet(file, size, rows)}
        picture = pictures.picture_type(head)
        if picture is not None:
            width, height = pictures.picture_size(head)
            return {**told, "kind": "image", "content_type": picture, "width": width, "height": height}
        if kind == "json" and size <= MAX_JSON:
            head += file.read(size - len(head))
    if kind == "none" or _is_binary(head):
        return {**told, "kind": "none", "why": "It is a binary file; download it."}
    cut = len(head) < size
    text = _decode(head, cut)
    if kind == "table":
        return {
            **told,
            **(
                json_lines(text, cut, rows)
                if name.lower().endswith(("jsonl", "ndjson"))
                else separated(text, cut, rows)
            ),
        }
    if kind == "json":
        return {**told, "kind": "json", "text": text, "cut": cut, "valid": not cut and _is_json(text)}
    return {**told, "kind": "text", "text": text, "cut": cut}


def _onnx(file: BinaryIO, size: int) -> dict[str, Any]:
    try:
        return {"kind": "onnx", "model": summarize_onnx(file, size)}
    except OnnxError as error:
        return {"kind": "none", "why": f"It is not an ONNX model that can be read: {error}."}


def _parquet(file: BinaryIO, size: int, rows: int) -> dict[str, Any]:
    try:
        return {"kind": "table", **parquet_head(file, size, rows)}
    except ParquetError as error:
        return {"kind": "none", "why": f"It is not a parquet file that can be read: {error}."}


def _is_binary(head: bytes) -> bool:
    """A NUL, or more than a few bytes that are no UTF-8."""
    if b"\0" in head[:8192]:
        return True
    return head[:8192].decode("utf-8", "replace").count("\ufffd") > max(4, len(head[:8192]) // 50)


def _decode(head: bytes, cut: bool) -> str:
    if cut:  # not in the middle of a letter
        head = head[: max(head.rfind(b"\n") + 1, len(head) - 4)]
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    return head.decode("utf-8", "replace")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
