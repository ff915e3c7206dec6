"""Requests as arrays, and arrays as answers, for models that are deployed without code."""

import io
import json

from .answers import Answer, BadInput

try:  # ten times as quick with large arrays; the environments that we make have it
    import orjson
except ImportError:
    orjson = None

__all__ = ["Asked", "Slot", "decode", "encode", "group", "parse_json"]

WRAPPERS = ("data", "inputs", "instances", "input_data")
MAX_VALUES = 100 * 1000 * 1000


class Slot(object):
    """One input of a model: its name, numpy's type, and its shape with None where any size goes; no shape: any that has rows."""

    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape if shape is None else list(shape)


class Asked(object):
    """One request: arrays by input, how many rows they have, and whether the answer is to lose its first axis."""

    def __init__(self, arrays, rows, is_single):
        self.arrays, self.rows, self.is_single = arrays, rows, is_single

    def signature(self):
        return tuple((name, a.dtype.str, a.shape[1:]) for name, a in sorted(self.arrays.items()))


def parse_json(body):
    try:
        return orjson.loads(body) if orjson is not None else json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput("The body is no JSON: {}.".format(str(error)[:300]))


def decode(head, body, slots):
    """The body as arrays for these inputs.

    Raises:
        BadInput: it is none of the forms that are taken, or does not fit the model's inputs.
    """
    import numpy

    if "npy" in (head.get("c") or "") or body[:6] == b"\x93NUMPY":
        try:
            given = numpy.load(io.BytesIO(body), allow_pickle=False)
        except Exception as error:
            raise BadInput("The body is no .npy file: {}.".format(str(error)[:300]))
        values = {slots[0].name: given}
    else:
        values = _by_input(parse_json(body), slots)
    arrays, rows, single = {}, None, False
    for slot in slots:
        array, is_single = _to_array(numpy, slot, values[slot.name])
        single = single or is_single
        if rows is not None and array.shape[:1] != (rows,):
            raise BadInput("Inputs have {} and {} rows; all must have as many.".format(rows, array.shape[0]))
        rows = array.shape[0] if array.ndim else 1
        arrays[slot.name] = array
    return Asked(arrays, rows or 1, single)


def _by_input(given, slots):
    names = [slot.name for slot in slots]
    if isinstance(given, dict):
        if all(name in given for name in names):
            return given
        for wrapper in WRAPPERS:
            if wrapper in given:
                return _by_input_inside(given[wrapper], names)
    elif isinstance(given, list):
        return _by_input_inside(given, names)
    raise BadInput(
        'The body has none of what this model takes: {{"data": [[…]]}} for its input, or an object with {}.'.format(
            ", ".join("'{}'".format(name) for name in names)
        )
    )


def _by_input_inside(given, names):
    if isinstance(given, dict):
        missing = [name for name in names if name not in given]
        if missing:
            raise BadInput("The body lacks the input '{}'.".format(missing[0]))
        return given
    if len(names) > 1:
        raise BadInput("This model has {} inputs: give an object with {}.".format(len(names), ", ".join(names)))
    return {names[0]: given}


def _to_array(numpy, slot, value):
    """(the array with its first axis, whether that axis was added)"""
    try:
        array = numpy.asarray(value, dtype=slot.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput("Input '{}' is no array of {}: {}.".format(slot.name, slot.dtype, str(error)[:200]))
    if array.size > MAX_VALUES:
        raise BadInput("Input '{}' has {} values; {} are allowed.".format(slot.name, array.size, MAX_VALUES))
    wanted = slot.shape
    if wanted is None:
        if array.ndim == 0 or 0 in array.shape:
            raise BadInput("Input '{}' has no rows.".format(slot.name))
        return numpy.ascontiguousarray(array), False
    added = array.ndim == len(wanted) - 1 and len(wanted) > 0
    if added:
        array = array[None]
    fits = array.ndim == len(wanted) and all(w is None or w == g for w, g in zip(wanted, array.shape))
    if not fits or 0 in array.shape:
        told = "×".join("any" if w is None else str(w) for w in wanted) or "a single value"
        shape = "×".join(map(str, array.shape[1:] if added else array.shape)) or "a single value"
        raise BadInput("Input '{}' is {}; this model takes {}.".format(slot.name, shape, told))
    return numpy.ascontiguousarray(array), added


def encode(value):
    """Any value with arrays in it as a JSON answer."""
    if orjson is not None:
        return Answer(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY, default=_listed))
    return Answer(json.dumps(value, separators=(",", ":"), default=_listed).encode("utf-8"))


def _listed(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError("{} is no JSON".format(type(value).__name__))


def group(asked, key):
    """[[places of those with the same key]], in order of appearance."""
    found = {}  # type: ignore[var-annotated,unused-ignore]
    for place, one in enumerate(asked):
        if one is not None:
            found.setdefault(key(one), []).append(place)
    return list(found.values())
