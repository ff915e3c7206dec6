"""Python's own values: numbers, texts, lists, dicts, dates, and nested types inside of them."""

import base64
import datetime

from inference_schema.parameter_types.abstract_parameter_type import AbstractParameterType

__all__ = ["StandardPythonParameterType"]

_DATES = {
    datetime.datetime: (
        lambda text: datetime.datetime.strptime(text.replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z"),
        "date-time",
    ),
    datetime.date: (lambda text: datetime.datetime.strptime(text, "%Y-%m-%d").date(), "date"),
    datetime.time: (lambda text: datetime.datetime.strptime(text.replace("Z", ""), "%H:%M:%S.%f").time(), "time"),
}


class StandardPythonParameterType(AbstractParameterType):
    def deserialize_input(self, input_data):
        return _convert(self.sample_input, input_data, "the value")

    def input_to_swagger(self):
        return _schema(self.sample_input)


def _convert(sample, given, where):
    if isinstance(sample, AbstractParameterType):
        return sample.deserialize_input(given)
    if type(sample) in _DATES:
        return _from_text(_DATES[type(sample)][0], given, where)
    if isinstance(sample, (bytes, bytearray)):
        return _from_text(lambda text: bytearray(base64.b64decode(text)), given, where)
    if isinstance(sample, bool) or isinstance(given, bool):
        fits = isinstance(given, bool) and isinstance(sample, bool)
    elif isinstance(sample, float):
        fits = isinstance(given, (int, float))
    elif isinstance(sample, (list, tuple)):
        fits = isinstance(given, list)
    else:
        fits = sample is None or isinstance(given, type(sample))
    if not fits:
        raise ValueError("{} must be {}, not {}.".format(where, type(sample).__name__, type(given).__name__))
    if isinstance(sample, dict):
        return {k: _convert(sample[k], v, "'{}'".format(k)) if k in sample else v for k, v in given.items()}
    if isinstance(sample, (list, tuple)) and sample and isinstance(sample[0], (AbstractParameterType, dict)):
        return [_convert(sample[0], one, "an item") for one in given]
    return tuple(given) if isinstance(sample, tuple) else float(given) if isinstance(sample, float) else given


def _from_text(convert, given, where):
    if not isinstance(given, str):
        raise ValueError("{} must be a text, not {}.".format(where, type(given).__name__))
    return convert(given)


def _schema(sample):
    if isinstance(sample, AbstractParameterType):
        return sample.input_to_swagger()
    if type(sample) in _DATES:
        return {"type": "string", "format": _DATES[type(sample)][1], "example": str(sample)}
    if isinstance(sample, bool):
        return {"type": "boolean", "example": sample}
    if isinstance(sample, int):
        return {"type": "integer", "format": "int64", "example": sample}
    if isinstance(sample, float):
        return {"type": "number", "format": "double", "example": sample}
    if isinstance(sample, str):
        return {"type": "string", "example": sample}
    if isinstance(sample, (bytes, bytearray)):
        return {"type": "string", "format": "byte", "example": base64.b64encode(sample).decode("ascii")}
    if isinstance(sample, dict):
        properties = {str(k): _schema(v) for k, v in sample.items()}
        return {"type": "object", "required": sorted(properties), "properties": properties, "example": _example(sample)}
    if isinstance(sample, (list, tuple)):
        items = _schema(sample[0]) if sample else {"type": "object"}
        return {"type": "array", "items": items, "example": _example(sample)}
    return {"type": "object"}


def _example(sample):
    if isinstance(sample, AbstractParameterType):
        return sample.input_to_swagger().get("example")
    if isinstance(sample, dict):
        return {str(k): _example(v) for k, v in sample.items()}
    if isinstance(sample, (list, tuple)):
        return [_example(v) for v in sample]
    if isinstance(sample, (bytes, bytearray)):
        return base64.b64encode(sample).decode("ascii")
    return sample if sample is None or isinstance(sample, (bool, int, float, str)) else str(sample)
