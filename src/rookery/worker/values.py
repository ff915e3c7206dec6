"""What may be logged, and how a value of any library becomes a plain one. NumPy is never imported: its
scalars have `.item()`."""

import json
import types
import warnings

from rookery.errors import UserError

__all__ = ["as_json_data", "check_metric_name", "check_step", "plain_scalar", "plain_tags"]

_PLAIN = (float, int, str, bool, type(None))
_MANY = (list, tuple, range, set, frozenset, dict, types.GeneratorType)


def check_metric_name(name):
    if not isinstance(name, str) or not name:
        raise UserError("{!r} is not a metric name. Give a non-empty string, such as 'accuracy'.".format(name))
    return name


def check_step(step):
    """None or a plain int."""
    if step is None or type(step) is int:
        return step
    value = _item(step)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return int(value)
    raise UserError("step={!r} is not a whole number. Give an int, or leave it out.".format(step))


def plain_scalar(name, value):
    """A float, int, str, bool or None. What is none of these is stored as its repr, with a warning.

    Raises:
        UserError: several values where one is expected.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, _MANY):
        raise UserError(
            "run.log('{}', …) takes one value, not a {}. Use run.log_list for several values, run.log_row or "
            "run.log_table for named columns.".format(name, type(value).__name__)
        )
    value = _item(value)
    if type(value) in _PLAIN:
        return value
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    warnings.warn(
        "Metric '{}': a value of type {} cannot be stored as it is; its repr is stored. Allowed are "
        "float, int, str, "
        "bool, None and NumPy scalars.".format(name, type(value).__name__),
        stacklevel=3,  # the line that called run.log
    )
    return repr(value)


def as_json_data(name, value):
    """The dict behind log_confusion_matrix and its kin: a dict, or the JSON text of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            text = "Metric '{}': the text given is not valid JSON ({}).".format(name, error)
            raise UserError(text) from error
    if not isinstance(value, dict):
        raise UserError("Metric '{}': give a dict or its JSON text, not {}.".format(name, type(value).__name__))
    missing = [key for key in ("schema_type", "schema_version", "data") if key not in value]
    if missing:
        raise UserError(
            "Metric '{}': {} missing. Needed are schema_type, schema_version and data.".format(name, ", ".join(missing))
        )
    return _plain_tree(name, value)


def plain_tags(tags, what="tags"):
    """Keys and values as strings; None stays None."""
    if not isinstance(tags, dict):
        raise UserError("{}: give a dict of strings, not {}.".format(what, type(tags).__name__))
    return {str(key): None if value is None else str(value) for key, value in tags.items()}


def _item(value):
    item = getattr(value, "item", None)
    if item is None or not callable(item):
        return value
    try:
        return item()
    except Exception:  # an array of several values, or something of another kind that has .item
        return value


def _plain_tree(name, value):
    if isinstance(value, dict):
        return {str(key): _plain_tree(name, inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_tree(name, inner) for inner in value]
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return _plain_tree(name, tolist())
    return plain_scalar(name, value)
