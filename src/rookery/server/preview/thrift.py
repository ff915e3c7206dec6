"""Thrift's compact protocol, as much of it as parquet's footers need: structs as {field number: value}. Bounded."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["ThriftError", "read_struct"]

MAX_DEPTH = 20
MAX_ITEMS = 2_000_000


class ThriftError(ValueError):
    """Damaged, or not what it should be."""


def read_struct(data: bytes, place: int = 0) -> tuple[dict[int, Any], int]:
    """(the struct that begins there, the place after it)."""
    reader = _Reader(data, place)
    try:
        return reader.struct(0), reader.place
    except (IndexError, struct.error):
        raise ThriftError("it ends in the middle of a value") from None


class _Reader:
    def __init__(self, data: bytes, place: int) -> None:
        self._data, self.place, self._left = data, place, MAX_ITEMS

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > MAX_DEPTH:
            raise ThriftError("it is nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while True:
            head = self._byte()
            kind = head & 15
            if kind == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ThriftError("it has too many values")
        if kind in (1, 2):
            return self._byte() == 1  # inside of lists a boolean is a byte
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            self.place += 8
            return struct.unpack_from("<d", self._data, self.place - 8)[0]
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 != 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(self._checked(count))]
        if kind == 11:
            count = self._checked(self._varint())
            kinds = self._byte() if count else 0
            return {str(self._value(kinds >> 4, depth + 1)): self._value(kinds & 15, depth + 1) for _ in range(count)}
        if kind == 12:
            return self.struct(depth + 1)
        raise ThriftError(f"it has a value of the unknown form {kind}")

    def _checked(self, count: int) -> int:
        if count > len(self._data):
            raise ThriftError("a list is longer than the file")
        return count

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, length: int) -> bytes:
        if self.place + length > len(self._data):
            raise ThriftError("it ends in the middle of a text")
        self.place += length
        return self._data[self.place - length : self.place]

    def _varint(self) -> int:
        value, shift = 0, 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise ThriftError("a number is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
