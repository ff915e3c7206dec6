"""TensorBoard's event files: records of a length, a checksum and a protobuf message. Only what scalars need.

record   uint64 length, masked crc32c of it, that many bytes, masked crc32c of them
Event    1 wall_time (double), 2 step (int64), 3 file_version, 5 summary
Summary  1 value*: 1 tag, 2 simple_value (float), 8 tensor (1 dtype, 2 shape, 4 content, 5 float_val, 6 double_val, 7 int_val …), 9 metadata
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

__all__ = ["Scalar", "event_record", "masked_crc", "read_event", "split_record", "version_record"]

_FLOAT, _DOUBLE, _INT32, _INT64, _HALF = 1, 2, 3, 9, 19
_PACKED = {_FLOAT: "<f", _DOUBLE: "<d", _INT32: "<i", _INT64: "<q", _HALF: "<e"}
_table: list[int] = []


class Scalar(NamedTuple):
    tag: str
    value: float
    step: int
    time: float


def masked_crc(data: bytes) -> int:
    """The checksum of TFRecords: crc32c, turned and shifted."""
    if not _table:
        for n in range(256):
            crc = n
            for _ in range(8):
                crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
            _table.append(crc)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def split_record(data: bytes, start: int) -> Optional[tuple[int, int]]:
    """(where the message begins, where it ends) of the record at `start`; the next one begins 4 bytes after the end. None where
    it is not whole yet.

    Raises:
        ValueError: there is no record here.
    """
    if len(data) - start < 12:
        return None
    length, check = struct.unpack_from("<QI", data, start)
    if masked_crc(data[start : start + 8]) != check:
        raise ValueError("the checksum of a record's length is wrong")
    if len(data) - start < length + 16:
        return None
    return start + 12, start + 12 + length


def read_event(message: bytes) -> tuple[list[Scalar], int]:
    """(the scalars of an Event, how many of its values are something else). ValueError where it is no message."""
    time, step, summary = 0.0, 0, []
    for number, value in _fields(message):
        if number == 1:
            time = struct.unpack("<d", value)[0]
        elif number == 2:
            step = value - 2**64 if value >= 2**63 else value
        elif number == 5:
            summary.append(value)
    scalars, others = [], 0
    for part in summary:
        for number, value in _fields(part):
            if number == 1:
                tag, found = _value(value)
                if found is None:
                    others += 1
                else:
                    scalars.append(Scalar(tag, found, step, time))
    return scalars, others


def version_record(time: float) -> bytes:
    """The first record of a file."""
    return _record(b"\x09" + struct.pack("<d", time) + b"\x1a" + _text("brain.Event:2"))


def event_record(scalar: Scalar) -> bytes:
    """One scalar as a record."""
    value = b"\x0a" + _text(scalar.tag) + b"\x15" + struct.pack("<f", _as_float(scalar.value))
    summary = b"\x0a" + _varint(len(value)) + value
    message = b"\x09" + struct.pack("<d", scalar.time) + b"\x10" + _varint(scalar.step & (2**64 - 1))
    return _record(message + b"\x2a" + _varint(len(summary)) + summary)


def _value(message: bytes) -> tuple[str, Optional[float]]:
    tag, found = "", None
    for number, value in _fields(message):
        if number == 1:
            tag = value.decode("utf-8", "replace")
        elif number == 2 and isinstance(value, bytes):
            found = struct.unpack("<f", value)[0]
        elif number == 8 and isinstance(value, bytes):
            found = _tensor(value)
    return tag, found


def _tensor(message: bytes) -> Optional[float]:
    """The number in a tensor of one element; None for other tensors."""
    dtype, content = 0, b""
    values: list[float] = []
    for number, value in _fields(message):
        if number == 1:
            dtype = value
        elif number == 2 and isinstance(value, bytes) and any(_size(dim) != 1 for n, dim in _fields(value) if n == 2):
            return None
        elif number == 4:
            content = value
        elif number in (5, 6):
            code = "f" if number == 5 else "d"
            values += struct.unpack(f"<{len(value) // struct.calcsize(code)}{code}", value)
        elif number in (7, 10, 13):
            values += [_whole(number, n) for n in ([value] if isinstance(value, int) else _varints(value))]
    packed = _PACKED.get(dtype)
    if packed and len(content) == struct.calcsize(packed):
        return float(struct.unpack(packed, content)[0])
    return float(values[0]) if packed and len(values) == 1 else None


def _whole(number: int, value: int) -> float:
    """A number of int_val or int64_val; those of half_val are the bits of one."""
    if number == 13:
        return float(struct.unpack("<e", struct.pack("<H", value & 0xFFFF))[0])
    return value - 2**64 if value >= 2**63 else value


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _read_varint(data, at)
        yield value


def _size(dim: Any) -> int:
    return next((value for number, value in _fields(dim) if number == 1), 1) if isinstance(dim, bytes) else 1


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of every field: an int for a varint, else bytes."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if kind == 0:
            value: Any
            value, at = _read_varint(message, at)
        else:
            if kind == 2:
                size, at = _read_varint(message, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError(f"field of kind {kind}")
            value, at = message[at : at + size], at + size
            if at > len(message):
                raise ValueError("a field is longer than its message")
        yield key >> 3, value


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("a number does not end")
        byte = message[at]
        result |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return result, at


def _varint(number: int) -> bytes:
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return _varint(len(data)) + data


def _as_float(value: float) -> float:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + struct.pack("<I", masked_crc(length)) + message + struct.pack("<I", masked_crc(message))
