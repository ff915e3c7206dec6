"""The rows of a table in two parts: by chance, by order, by what they say."""

from __future__ import annotations

import re
from typing import Any

from rookery_tabular.frames import Frame, kind_of
from rookery_tabular.selecting import choose_one
from rookery_vision.errors import (
    NotInRangeValueError,
    NullOrEmptyError,
    ParameterParsingError,
    TooFewRowsInDatasetError,
    by_id,
)

__all__ = ["split"]

PATTERN_LIMIT = 1000
_COLUMN = r'\\?"(?P<column>(?:[^"\\]|\\.)+)"'
_RELATIVE = re.compile(_COLUMN + r"\s*(?P<sign>>=|<=|!=|<>|==|=|>|<)\s*(?P<value>.+?)\s*\Z", re.S)
_REGULAR = re.compile(_COLUMN + r"\s+(?P<pattern>.+)\Z", re.S)


def split(
    frame: Frame, mode: str, fraction: float, is_random: bool, seed: int, stratify: str, expression: str
) -> tuple[Frame, Frame]:
    """
    Raises:
        ModuleError: too few rows, or an expression that cannot be read.
    """
    if mode == "Split Rows":
        chosen = _rows(frame, fraction, is_random, seed, stratify)
    else:
        if not expression.strip():
            raise NullOrEmptyError(f"Parameter 'Expression' is missing. '{mode}' needs one, as \\\"Age\" >= 30.")
        chosen = _fitting(frame, expression.strip(), mode)
    return frame.with_data(frame.data[chosen]), frame.with_data(frame.data[~chosen])


def _rows(frame: Frame, fraction: float, is_random: bool, seed: int, stratify: str) -> Any:
    import numpy

    count = len(frame.data)
    if count < 2:
        raise TooFewRowsInDatasetError(f"The table has {count} rows; two parts need at least 2.")
    chosen: Any = numpy.zeros(count, dtype=bool)
    if not stratify.strip():
        order = numpy.random.default_rng(seed).permutation(count) if is_random else numpy.arange(count)
        chosen[order[: _share(count, fraction)]] = True
        return chosen
    column = choose_one(frame, stratify, "Stratification key column")
    values = frame.data[column]
    codes = values.astype(str).where(values.notna(), "\0").factorize(sort=True)[0]
    generator = numpy.random.default_rng(seed)
    exact = 0.0
    for code in range(codes.max() + 1):
        mine = numpy.flatnonzero(codes == code)
        # What is left over by one group is given to the next: the whole has the fraction too.
        exact += len(mine) * fraction
        wanted = min(len(mine), max(0, round(exact) - int(chosen.sum())))
        order = generator.permutation(len(mine)) if is_random else numpy.arange(len(mine))
        chosen[mine[order[:wanted]]] = True
    return chosen


def _share(count: int, fraction: float) -> int:
    share = round(count * fraction)
    if not 0 <= fraction <= 1:
        raise NotInRangeValueError(f"The fraction is {fraction}. Allowed: 0 to 1.")
    return share


def _fitting(frame: Frame, expression: str, mode: str) -> Any:
    """Conditions joined by & or | (not both: there are no brackets to say which comes first)."""
    import numpy

    parts = re.split(r'\s*([&|])\s*(?=\\?")', expression)
    signs = set(parts[1::2])
    if len(signs) > 1:
        raise ParameterParsingError(
            f"Parameter 'Expression' is {expression!r:.200}. Allowed: conditions joined by & or by |, not both."
        )
    read = _relative if mode == "Relative Expression" else _regular
    found = [read(frame, part.strip()) for part in parts[0::2]]
    return (numpy.logical_or if signs == {"|"} else numpy.logical_and).reduce(found)


def _regular(frame: Frame, text: str) -> Any:
    match = _REGULAR.match(text)
    if match is None or len(text) > PATTERN_LIMIT:
        raise ParameterParsingError(
            f"Parameter 'Expression' is {text!r:.200}. Allowed: a column in quotes and a pattern, as \\\"City\" ^B.*"
        )
    column = choose_one(frame, _plain(match["column"]), "Expression")
    try:
        pattern = re.compile(match["pattern"])
    except re.error as error:
        raise ParameterParsingError(f"{match['pattern']!r:.200} is no regular expression: {error}.") from None
    values = frame.data[column]
    return values.map(lambda v: v == v and v is not None and pattern.search(str(v)) is not None).to_numpy(dtype=bool)


def _relative(frame: Frame, text: str) -> Any:
    match = _RELATIVE.match(text)
    if match is None:
        raise ParameterParsingError(
            f"Parameter 'Expression' is {text!r:.200}. Allowed: a column in quotes, a sign and a value, as \\\"Age\" >= 30."
        )
    column = choose_one(frame, _plain(match["column"]), "Expression")
    values, sign = frame.data[column], match["sign"]
    wanted = _value(values, column, match["value"].strip().strip("\"'"))
    compare = {
        "=": values.eq, "==": values.eq, "!=": values.ne, "<>": values.ne,
        ">": values.gt, "<": values.lt, ">=": values.ge, "<=": values.le,
    }[sign]  # fmt: skip
    return (compare(wanted) & values.notna()).fillna(False).to_numpy(dtype=bool)


def _value(values: Any, column: str, text: str) -> Any:
    kind = kind_of(values)
    try:
        if kind == "number":
            return float(text)
        if kind == "switch":
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        if kind == "time":
            import pandas

            moment = pandas.Timestamp(text)
            zone = getattr(values.dtype, "tz", None)
            return moment.tz_localize(zone) if zone is not None and moment.tzinfo is None else moment
    except (ValueError, KeyError, OverflowError):
        raise by_id("CouldNotConvertColumn")(
            f"'{text:.100}' cannot be compared with column '{column:.100}', which is a {kind}."
        ) from None
    return text


def _plain(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted)
