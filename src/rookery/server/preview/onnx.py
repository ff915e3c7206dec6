"""What an ONNX model is, read from its protobuf without loading weights: those are skipped by their length.

A reader of our own: the `onnx` package loads the whole file into the keeper, and a damaged file must harm nobody. Bounded in
depth, in fields and in what is kept; https://protobuf.dev has the encoding, `onnx.proto3` the numbers of the fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, Optional, Union

__all__ = ["OnnxError", "summarize_onnx"]

MAX_TEXT = 2000
MAX_NODES = 2000
MAX_FIELDS = 2_000_000
MAX_NAMES = 200
_TYPES = (
    "undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "float64", "uint32",
    "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
    "int4", "float4e2m1",
)  # fmt: skip
_BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16, 17: 8, 18: 8,
    19: 8, 20: 8, 21: 4, 22: 4, 23: 4,
}  # fmt: skip


class OnnxError(ValueError):
    """Not a model, or a damaged one."""


class _Part(tuple[int, int]):
    """(start, end) of a message inside of the file."""


Value = Union[int, _Part]


def summarize_onnx(file: BinaryIO, size: int) -> dict[str, Any]:
    """OnnxSummary of docs/inside/studio-api.md."""
    reader = _Reader(file, size)
    told: dict[str, Any] = {
        "ir_version": None, "producer": "", "producer_version": "", "domain": "", "description": "", "opsets": [], "graph": None,
        "inputs": [], "outputs": [], "num_nodes": 0, "operators": [], "nodes": [], "num_initializers": 0, "num_parameters": 0,
        "weights_bytes": 0, "metadata": {}, "cut": False,
    }  # fmt: skip
    texts = {2: "producer", 3: "producer_version", 4: "domain", 6: "description"}
    for number, value in reader.fields(_Part((0, size))):
        if number == 1 and isinstance(value, int):
            told["ir_version"] = value
        elif number in texts and isinstance(value, _Part):
            told[texts[number]] = reader.text(value)
        elif number == 7 and isinstance(value, _Part):
            _read_graph(reader, value, told)
        elif number == 8 and isinstance(value, _Part) and len(told["opsets"]) < MAX_NAMES:
            fields = dict(reader.fields(value))
            told["opsets"].append({"domain": reader.maybe_text(fields.get(1)), "version": fields.get(2)})
        elif number == 14 and isinstance(value, _Part) and len(told["metadata"]) < MAX_NAMES:
            fields = dict(reader.fields(value))
            told["metadata"][reader.maybe_text(fields.get(1))] = reader.maybe_text(fields.get(2))
    if told["graph"] is None:
        raise OnnxError("it has no graph")
    return told


def _read_graph(reader: _Reader, graph: _Part, told: dict[str, Any]) -> None:
    told["graph"] = ""
    operators: Counter[str] = Counter()
    initialized: set[str] = set()
    for number, value in reader.fields(graph):
        if not isinstance(value, _Part):
            continue
        if number == 1:
            told["num_nodes"] += 1
            node = _node(reader, value)
            operators[node["op"]] += 1
            if len(told["nodes"]) < MAX_NODES:
                told["nodes"].append(node)
            else:
                told["cut"] = True
        elif number == 2:
            told["graph"] = reader.text(value)
        elif number == 5:
            told["num_initializers"] += 1
            name, count, weight = _tensor(reader, value)
            told["num_parameters"] += count
            told["weights_bytes"] += weight
            initialized.add(name)
        elif number in (11, 12):
            listed = told["inputs" if number == 11 else "outputs"]
            if len(listed) < MAX_NAMES:
                listed.append(_value_info(reader, value))
            else:
                told["cut"] = True
    # Older models name their weights among the inputs too.
    told["inputs"] = [one for one in told["inputs"] if one["name"] not in initialized]
    told["operators"] = [{"op": op, "count": count} for op, count in operators.most_common(MAX_NAMES)]


def _node(reader: _Reader, part: _Part) -> dict[str, Any]:
    node: dict[str, Any] = {"name": "", "op": "", "inputs": [], "outputs": []}
    for number, value in reader.fields(part):
        if not isinstance(value, _Part):
            continue
        if number in (1, 2):
            listed = node["inputs" if number == 1 else "outputs"]
            if len(listed) < 50:
                listed.append(reader.text(value))
        elif number in (3, 4):
            node["name" if number == 3 else "op"] = reader.text(value)
    return node


def _tensor(reader: _Reader, part: _Part) -> tuple[str, int, int]:
    """(name, how many numbers, how many bytes they take); the numbers themselves are not read."""
    name, kind, count = "", 0, 1
    for number, value in reader.fields(part):
        if number == 1:
            for dim in [value] if isinstance(value, int) else reader.varints(value):
                count *= max(0, _signed(dim))
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8 and isinstance(value, _Part):
            name = reader.text(value)
    count = min(count, 2**53)
    return name, count, count * _BITS.get(kind, 0) // 8


def _value_info(reader: _Reader, part: _Part) -> dict[str, Any]:
    told: dict[str, Any] = {"name": "", "type": "", "shape": []}
    for number, value in reader.fields(part):
        if number == 1 and isinstance(value, _Part):
            told["name"] = reader.text(value)
        elif number == 2 and isinstance(value, _Part):
            for kind, typed in reader.fields(value):
                if kind == 1 and isinstance(typed, _Part):
                    told["type"], told["shape"] = _tensor_type(reader, typed)
                elif kind in (4, 5, 8, 9):
                    told["type"] = {4: "sequence", 5: "map", 8: "sparse tensor", 9: "optional"}[kind]
    return told


def _tensor_type(reader: _Reader, part: _Part) -> tuple[str, list[Any]]:
    kind, shape = "", list[Any]()
    for number, value in reader.fields(part):
        if number == 1 and isinstance(value, int):
            kind = _TYPES[value] if value < len(_TYPES) else f"type {value}"
        elif number == 2 and isinstance(value, _Part):
            for field, dim in reader.fields(value):
                if field == 1 and isinstance(dim, _Part) and len(shape) < 50:
                    shape.append(_dimension(reader, dim))
    return kind, shape


def _dimension(reader: _Reader, part: _Part) -> Any:
    for number, value in reader.fields(part):
        if number == 1 and isinstance(value, int):
            return _signed(value)
        if number == 2 and isinstance(value, _Part):
            return reader.text(value)
    return "?"


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


class _Reader:
    """Fields of messages in a file, one after the other; what nobody asks for is jumped over."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size, self._left = file, size, MAX_FIELDS
        self._at, self._piece = 0, b""

    def fields(self, part: _Part) -> Iterator[tuple[int, Value]]:
        place, end = part
        while place < end:
            self._left -= 1
            if self._left < 0:
                raise OnnxError("it has too many fields")
            key, place = self._varint(place, end)
            number, kind = key >> 3, key & 7
            if kind == 0:
                value, place = self._varint(place, end)
                yield number, value
            elif kind == 2:
                length, place = self._varint(place, end)
                if place + length > end:
                    raise OnnxError("it ends in the middle of a field")
                yield number, _Part((place, place + length))
                place += length
            elif kind in (1, 5):
                place += 8 if kind == 1 else 4
            else:
                raise OnnxError(f"a field has the unknown form {kind}")
        if place > end:
            raise OnnxError("it ends in the middle of a field")

    def varints(self, part: _Part) -> Iterator[int]:
        place, end = part
        for _ in range(64):  # of dimensions
            if place >= end:
                return
            value, place = self._varint(place, end)
            yield value

    def text(self, part: _Part) -> str:
        start, end = part
        return self._bytes(start, min(end - start, MAX_TEXT)).decode("utf-8", "replace")

    def maybe_text(self, value: Optional[Value]) -> str:
        return self.text(value) if isinstance(value, _Part) else ""

    def _varint(self, place: int, end: int) -> tuple[int, int]:
        data = self._bytes(place, min(10, end - place))
        value = 0
        for i, byte in enumerate(data):
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value & (2**64 - 1), place + i + 1
        raise OnnxError("it is damaged, or not a model at all")

    def _bytes(self, start: int, length: int) -> bytes:
        if not (self._at <= start and start + length <= self._at + len(self._piece)):
            self._file.seek(start)
            self._at, self._piece = start, self._file.read(max(length, 64 * 1024))
        found = self._piece[start - self._at : start - self._at + length]
        if len(found) < length:
            raise OnnxError("it is shorter than it says")
        return found
