"""Conditions on columns: `ds.filter((ds['age'] > 30) & (ds['name'] == 'x'))`. They become plain data."""

from __future__ import annotations

from typing import Any

__all__ = ["Column", "Condition", "mask_of"]


class Column:
    """A column of a data set, to be compared with a value."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self._name = name

    def _compare(self, how: str, value: Any) -> Condition:
        return Condition([how, self._name, value.isoformat() if hasattr(value, "isoformat") else value])

    def __eq__(self, value: Any) -> Condition:  # type: ignore[override]
        return self._compare("eq", value)

    def __ne__(self, value: Any) -> Condition:  # type: ignore[override]
        return self._compare("ne", value)

    def __lt__(self, value: Any) -> Condition:
        return self._compare("lt", value)

    def __le__(self, value: Any) -> Condition:
        return self._compare("le", value)

    def __gt__(self, value: Any) -> Condition:
        return self._compare("gt", value)

    def __ge__(self, value: Any) -> Condition:
        return self._compare("ge", value)

    def is_null(self) -> Condition:
        return Condition(["null", self._name])

    def contains(self, text: str) -> Condition:
        return Condition(["contains", self._name, text])

    def starts_with(self, text: str) -> Condition:
        return Condition(["starts", self._name, text])

    def ends_with(self, text: str) -> Condition:
        return Condition(["ends", self._name, text])


class Condition:
    def __init__(self, tree: list[Any]) -> None:
        self._tree = tree

    def to_plain(self) -> list[Any]:
        return self._tree

    def __and__(self, other: Condition) -> Condition:
        return Condition(["and", self._tree, other._tree])

    def __or__(self, other: Condition) -> Condition:
        return Condition(["or", self._tree, other._tree])

    def __invert__(self) -> Condition:
        return Condition(["not", self._tree])

    def __bool__(self) -> bool:
        raise TypeError("A condition on columns has no truth of its own. Join conditions with & and |.")


def mask_of(frame: Any, tree: list[Any]) -> Any:
    """Which rows of a pandas frame fulfil a condition."""
    how = tree[0]
    if how == "and":
        return mask_of(frame, tree[1]) & mask_of(frame, tree[2])
    if how == "or":
        return mask_of(frame, tree[1]) | mask_of(frame, tree[2])
    if how == "not":
        return ~mask_of(frame, tree[1])
    column = frame[tree[1]]
    if how == "null":
        return column.isna()
    if how in ("contains", "starts", "ends"):
        words = column.astype("string")
        if how == "contains":
            return words.str.contains(tree[2], regex=False).fillna(False)
        return (words.str.startswith(tree[2]) if how == "starts" else words.str.endswith(tree[2])).fillna(False)
    return getattr(column, how)(tree[2])
