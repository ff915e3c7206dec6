"""Pages of a parquet column: plain and dictionary-encoded values, stored as they are or with snappy or gzip."""

from __future__ import annotations

import struct
import zlib
from typing import Any, BinaryIO

from rookery.server.preview.thrift import read_struct

__all__ = ["PageError", "read_column"]

MAX_PAGE = 16 * 1024 * 1024
MAX_HEADER = 64 * 1024
MAX_VALUES = 4_000_000
_CODECS = {3: "LZO", 4: "brotli", 5: "LZ4", 6: "zstd", 7: "LZ4"}
_FORMS = {1: "<i", 2: "<q", 4: "<f", 5: "<d"}


class PageError(ValueError):
    """It cannot be read here; the words say why."""


def read_column(
    file: BinaryIO, start: int, length: int, *, codec: int, physical: int, width: int, optional: bool, wanted: int
) -> list[Any]:
    """The first values of a column, at least `wanted` where there are so many; None where one is null."""
    if codec in _CODECS:
        raise PageError(f"it is compressed with {_CODECS[codec]}, which is not read here")
    place, end = start, start + length
    dictionary: list[Any] = []
    found: list[Any] = []
    while place < end and len(found) < wanted:
        file.seek(place)
        head = file.read(min(MAX_HEADER, end - place))
        page, used = read_struct(head)
        stored, kind = int(page.get(3) or 0), int(page.get(1) or 0)
        if stored < 0 or stored > MAX_PAGE or int(page.get(2) or 0) > MAX_PAGE or place + used + stored > end:
            raise PageError("its pages are too large to look into")
        file.seek(place + used)
        data = file.read(stored)
        place += used + stored
        if kind == 2:
            body = _expand(data, codec, int(page[2]))
            dictionary = _plain(body, physical, width, int((page.get(7) or {}).get(1) or 0))
        elif kind == 0:
            found += _page_v1(
                _expand(data, codec, int(page[2])), page.get(5) or {}, physical, width, optional, dictionary
            )
        elif kind == 3:
            found += _page_v2(data, page.get(8) or {}, codec, int(page[2]), physical, width, optional, dictionary)
    return found


def _page_v1(
    data: bytes, head: dict[int, Any], physical: int, width: int, optional: bool, dictionary: list[Any]
) -> list[Any]:
    count, levels, place = int(head.get(1) or 0), None, 0
    if optional:
        size = int.from_bytes(data[:4], "little")
        levels = _hybrid(data[4 : 4 + size], 1, count)
        place = 4 + size
    return _spread(data[place:], int(head.get(2) or 0), physical, width, dictionary, levels, count)


def _page_v2(
    data: bytes,
    head: dict[int, Any],
    codec: int,
    whole: int,
    physical: int,
    width: int,
    optional: bool,
    dictionary: list[Any],
) -> list[Any]:
    count, level_bytes, repeat_bytes = (int(head.get(n) or 0) for n in (1, 5, 6))
    levels = _hybrid(data[repeat_bytes : repeat_bytes + level_bytes], 1, count) if optional else None
    body = data[repeat_bytes + level_bytes :]
    if head.get(7, True):
        body = _expand(body, codec, whole - level_bytes - repeat_bytes)
    return _spread(body, int(head.get(4) or 0), physical, width, dictionary, levels, count)


def _spread(
    data: bytes, encoding: int, physical: int, width: int, dictionary: list[Any], levels: Any, count: int
) -> list[Any]:
    """The values, with None where the levels say that there is none."""
    present = count if levels is None else sum(levels)
    if encoding == 0:
        values = _plain(data, physical, width, present)
    elif encoding in (2, 8):
        numbers = _hybrid(data[1:], data[0], present) if present else []
        values = [dictionary[n] for n in numbers]
    elif encoding == 3 and physical == 0:
        values = [bool(v) for v in _hybrid(data[4:], 1, present)]
    else:
        raise PageError(f"its encoding ({encoding}) is not read here")
    if levels is None:
        return values
    given = iter(values)
    return [next(given, None) if level else None for level in levels]


def _plain(data: bytes, physical: int, width: int, count: int) -> list[Any]:
    if count > 8 * len(data):
        raise PageError("it is damaged")
    if physical == 0:
        return [bool(data[i // 8] >> (i % 8) & 1) for i in range(count)]
    if physical in _FORMS:
        size = struct.calcsize(_FORMS[physical])
        return [value for (value,) in struct.iter_unpack(_FORMS[physical], data[: count * size])]
    if physical == 3:
        return [_int96(data[12 * i : 12 * i + 12]) for i in range(count)]
    if physical == 7 and width > 0:
        return [data[width * i : width * (i + 1)] for i in range(count)]
    if physical != 6:
        raise PageError("its type is not read here")
    found, place = [], 0
    for _ in range(count):
        size = int.from_bytes(data[place : place + 4], "little")
        found.append(data[place + 4 : place + 4 + size])
        place += 4 + size
    return found


def _int96(data: bytes) -> str:
    """A time as older writers store it: nanoseconds of a day, and the Julian day."""
    from datetime import datetime, timedelta

    nanoseconds, day = struct.unpack("<qi", data)
    try:
        moment = datetime(1970, 1, 1) + timedelta(days=day - 2440588, microseconds=nanoseconds // 1000)
    except OverflowError:
        return data.hex()
    return moment.isoformat() + "Z"


def _hybrid(data: bytes, bits: int, count: int) -> list[int]:
    """Runs of one number and packed groups of eight, as they come."""
    if bits > 32 or count > MAX_VALUES:
        raise PageError("it is damaged, or has too many values in a page to look into")
    if bits == 0:
        return [0] * count
    found: list[int] = []
    place, size = 0, (bits + 7) // 8
    while len(found) < count and place < len(data):
        head, shift = 0, 0
        while True:
            byte = data[place]
            place += 1
            head |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 35:
                break
        if head & 1:
            mask = (1 << bits) - 1
            for group in range(min(head >> 1, (count - len(found) + 7) // 8)):
                packed = int.from_bytes(data[place + group * bits : place + (group + 1) * bits], "little")
                found += [packed >> (bits * i) & mask for i in range(8)]
            place += (head >> 1) * bits
        else:
            value = int.from_bytes(data[place : place + size], "little")
            found += [value] * min(head >> 1, count - len(found))
            place += size
    return found[:count]


def _expand(data: bytes, codec: int, size: int) -> bytes:
    if codec == 0:
        return data
    if codec == 1:
        return _unsnap(data)
    if codec == 2:
        try:
            return zlib.decompressobj(47).decompress(data, MAX_PAGE)
        except zlib.error:
            raise PageError("it is damaged") from None
    raise PageError(f"its compression ({codec}) is not read here")


def _unsnap(data: bytes) -> bytes:
    """Snappy: literals, and copies of what came before."""
    place, size, shift = 0, 0, 0
    while True:
        byte = data[place]
        place += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > MAX_PAGE:
        raise PageError("its pages are too large to look into")
    out = bytearray()
    while place < len(data) and len(out) < size:
        tag = data[place]
        place += 1
        kind = tag & 3
        if kind == 0:
            length = tag >> 2
            if length >= 60:
                more = length - 59
                length = int.from_bytes(data[place : place + more], "little")
                place += more
            out += data[place : place + length + 1]
            place += length + 1
            continue
        if kind == 1:
            length, offset = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[place]
            place += 1
        else:
            more = 2 if kind == 2 else 4
            length, offset = (tag >> 2) + 1, int.from_bytes(data[place : place + more], "little")
            place += more
        if not 0 < offset <= len(out):
            raise PageError("it is damaged")
        if offset >= length:
            out += out[len(out) - offset : len(out) - offset + length]
        else:
            piece = bytes(out[-offset:])
            out += (piece * (length // offset + 1))[:length]
    return bytes(out)
