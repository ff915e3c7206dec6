"""Versions and version conditions, as far as interpreters, torch and conda pins need them. Not a resolver:
uv is that.
"""

from __future__ import annotations

import re

__all__ = ["allows", "exact", "is_condition", "release"]

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_CLAUSE = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>|=)?\s*v?((?:[0-9]+!)?[0-9][0-9A-Za-z.+_-]*(?:\.\*|\*)?)\s*")


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version: '2.13.0+cpu' → (2, 13, 0), '1.0rc1' → (1, 0)."""
    found = _NUMBERS.match(version.strip().lstrip("v"))
    return tuple(int(n) for n in found.group().split(".")) if found else ()


def is_condition(text: str) -> bool:
    """Whether every clause of a comma-separated condition can be read here."""
    return all(_CLAUSE.fullmatch(clause) for clause in text.split(",") if clause.strip())


def exact(text: str) -> str:
    """The one version that a condition like '==3.6.2' or '=3.6' names, '' for a range."""
    clause = _CLAUSE.fullmatch(text)
    if clause is None or clause.group(1) not in (None, "=", "==", "==="):
        return ""
    return re.sub(r"\.?\*$", "", clause.group(2))


def allows(condition: str, version: str) -> bool:
    """Whether a version meets all clauses. A single '=' (conda) and '==1.2.*' compare as prefixes. A clause
    that cannot be
    read allows nothing: better a download too many than a version that was not asked for."""
    if not condition.strip():
        return True
    return all(_meets(clause, version) for clause in condition.split(",") if clause.strip())


def _meets(clause: str, version: str) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if found is None:
        return False
    operator, wanted = found.group(1) or "==", found.group(2)
    have, want = release(version), release(wanted)
    if not have or not want:
        return False
    prefix = operator == "=" or wanted.endswith("*")
    if prefix and operator in ("=", "==", "==="):
        return have[: len(want)] == want
    if prefix and operator == "!=":
        return have[: len(want)] != want
    if operator in ("==", "==="):
        local = wanted.partition("+")[2]
        return _padded(have, want) == _padded(want, have) and (not local or local == version.partition("+")[2])
    if operator == "!=":
        return _padded(have, want) != _padded(want, have)
    if operator == "~=":
        return len(want) > 1 and have[: len(want) - 1] == want[:-1] and _padded(have, want) >= _padded(want, have)
    left, right = _padded(have, want), _padded(want, have)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def _padded(numbers: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return numbers + (0,) * (len(other) - len(numbers))
