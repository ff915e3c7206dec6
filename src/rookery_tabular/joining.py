"""Rows of two tables side by side."""

from __future__ import annotations

from typing import Any

from rookery_tabular.frames import Frame, kind_of
from rookery_tabular.selecting import choose
from rookery_vision.errors import by_id

__all__ = ["join"]

HOW = {"Inner Join": "inner", "Left Outer Join": "left", "Full Outer Join": "outer", "Left Semi-Join": "semi"}
LIMIT = 200_000_000  # rows; two tables of many equal keys multiply
_SIDE = "\0side"


def join(
    left: Frame, right: Frame, left_keys: str, right_keys: str, match_case: bool, join_type: str, keep_right: bool
) -> Frame:
    """
    Raises:
        ColumnCountNotEqualError, JoinOnIncompatibleColumnTypesError, FailedJoinOperationError: it cannot be done.
    """
    ours = choose(left, left_keys, "Join key columns for left dataset")
    theirs = choose(right, right_keys, "Join key columns for right dataset")
    if len(ours) != len(theirs):
        raise by_id("ColumnCountNotEqual")(
            f"{len(ours)} key columns of the left table, {len(theirs)} of the right one. Give as many for both."
        )
    for one, other in zip(ours, theirs):
        kinds = kind_of(left.data[one]), kind_of(right.data[other])
        if kinds[0] != kinds[1]:
            raise by_id("JoinOnIncompatibleColumnTypes")(
                f"'{one:.100}' of the left table is a {kinds[0]}, '{other:.100}' of the right one a {kinds[1]}: they are never equal."
            )
    keys = [f"\0key{i}" for i in range(len(ours))]
    a = left.data.assign(**{k: _key(left.data[n], match_case) for k, n in zip(keys, ours)})
    shown = right.data if keep_right else right.data.drop(columns=theirs)
    names = _names(left.data.columns, shown.columns)
    b = shown.rename(columns=names).assign(**{k: _key(right.data[n], match_case) for k, n in zip(keys, theirs)})
    how = HOW[join_type]
    if how == "semi":
        wanted = b[keys].dropna().drop_duplicates()
        kept = a.reset_index(names=_SIDE).dropna(subset=keys).merge(wanted, on=keys)[_SIDE].sort_values()
        return left.with_data(left.data.loc[kept.to_numpy()])
    _check_size(a, b, keys)
    # pandas pairs missing keys with each other; here they pair with none.
    joined = a.dropna(subset=keys).merge(b.dropna(subset=keys), on=keys, how=how)
    lonely = [joined]
    if how in ("left", "outer"):
        lonely.append(a[a[keys].isna().any(axis=1)])
    if how == "outer":
        lonely.append(b[b[keys].isna().any(axis=1)])
    import pandas

    lonely = [each for each in lonely if len(each)] or [joined]
    whole = lonely[0] if len(lonely) == 1 else pandas.concat(lonely, ignore_index=True)
    whole = whole.drop(columns=keys).reindex(columns=[*left.data.columns, *names.values()])
    roles = {**{names[n]: r for n, r in right.roles.items() if n in names}, **left.roles}
    categories = {**{names[n]: c for n, c in right.categories.items() if n in names}, **left.categories}
    return Frame(whole, roles, categories, left.task or right.task)


def _key(values: Any, match_case: bool) -> Any:
    if match_case or kind_of(values) != "text":
        return values
    return values.map(lambda v: v.casefold() if isinstance(v, str) else v, na_action="ignore")


def _names(left: Any, right: Any) -> dict[str, str]:
    """What columns of the right table are called: a name that is taken gets (1), (2) … behind it."""
    taken, names = set(left), {}
    for name in right:
        free, number = name, 0
        while free in taken:
            number += 1
            free = f"{name} ({number})"
        names[name] = free
        taken.add(free)
    return names


def _check_size(a: Any, b: Any, keys: list[str]) -> None:
    counts = a.groupby(keys).size().to_frame("a").join(b.groupby(keys).size().rename("b"), how="inner")
    total = int((counts["a"].astype("int64") * counts["b"].astype("int64")).sum())
    if total > LIMIT:
        raise by_id("FailedJoinOperation")(
            f"The join would have {total:,} rows, because keys occur many times on both sides; {LIMIT:,} are allowed. Use keys that "
            "are rarer, or take duplicates out first."
        )
