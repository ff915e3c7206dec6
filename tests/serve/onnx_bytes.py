"""A small ONNX model, written by hand: no package is needed to make it. scores = x · weights, rows of four in, rows of three out."""

from __future__ import annotations

import struct

WEIGHTS = [[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [1.0, 1.0, 0.0], [0.5, 0.0, 0.0]]


def linear(batch: bool = True) -> bytes:
    """`batch`: any number of rows; else just one."""
    weights = b"".join(struct.pack("<f", value) for row in WEIGHTS for value in row)
    tensor = _number(1, 4) + _number(1, 3) + _number(2, 1) + _text(8, b"w") + _text(9, weights)
    node = _text(1, b"x") + _text(1, b"w") + _text(2, b"scores") + _text(4, b"MatMul")
    graph = _text(1, node) + _text(2, b"g") + _text(5, tensor)
    graph += _text(11, _value(b"x", (4,), batch)) + _text(12, _value(b"scores", (3,), batch))
    return _number(1, 8) + _text(7, graph) + _text(8, _text(1, b"") + _number(2, 13))


def red_or_blue() -> bytes:
    """Pictures N × 3 × 8 × 8 in, two scores out: ten times the difference of the mean red and the mean blue, and the opposite."""
    weights = b"".join(struct.pack("<f", value) for value in (10, -10, 0, 0, -10, 10))
    tensor = _number(1, 3) + _number(1, 2) + _number(2, 1) + _text(8, b"w") + _text(9, weights)
    steps = [("images", "pooled", b"GlobalAveragePool"), ("pooled", "flat", b"Flatten")]
    graph = b"".join(_text(1, _text(1, a.encode()) + _text(2, b.encode()) + _text(4, op)) for a, b, op in steps)
    graph += _text(1, _text(1, b"flat") + _text(1, b"w") + _text(2, b"scores") + _text(4, b"MatMul"))
    graph += _text(2, b"g") + _text(5, tensor)
    graph += _text(11, _value(b"images", (3, 8, 8))) + _text(12, _value(b"scores", (2,)))
    return _number(1, 8) + _text(7, graph) + _text(8, _text(1, b"") + _number(2, 13))


def expected(rows: list[list[float]]) -> list[list[float]]:
    return [[sum(x * WEIGHTS[i][j] for i, x in enumerate(row)) for j in range(3)] for row in rows]


def _value(name: bytes, sizes: tuple[int, ...], batch: bool = True) -> bytes:
    first = _text(2, b"N") if batch else _number(1, 1)
    shape = _text(1, first) + b"".join(_text(1, _number(1, size)) for size in sizes)
    return _text(1, name) + _text(2, _text(1, _number(1, 1) + _text(2, shape)))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
