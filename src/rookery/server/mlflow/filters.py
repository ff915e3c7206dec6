"""MLflow's filter language: comparisons joined by AND, and `order_by`. Parsed here, compiled elsewhere.

metrics.acc > 0.9 and params.`learning rate` = '0.1' AND tags.owner LIKE 'a%' and attributes.run_id IN ('x', 'y')
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Optional

from rookery.record.search import Condition, Order
from rookery.server.mlflow.errors import MlflowError, invalid

__all__ = [
    "EXPERIMENTS",
    "LOGGED_MODELS",
    "REGISTERED_MODELS",
    "RUNS",
    "VERSIONS",
    "Language",
    "parse_filter",
    "parse_order",
]

_ENTITIES = {
    "metric": "metric", "metrics": "metric",
    "parameter": "param", "parameters": "param", "param": "param", "params": "param",
    "tag": "tag", "tags": "tag",
    "attribute": "attribute", "attributes": "attribute", "attr": "attribute", "run": "attribute",
    "dataset": "dataset", "datasets": "dataset",
}  # fmt: skip
_NUMBER_OPS = ("=", "!=", "<", "<=", ">", ">=")
_TEXT_OPS = ("=", "!=", "LIKE", "ILIKE")


@dataclass(frozen=True)
class Language:
    """What one kind of search knows: attributes by their name there and here."""

    texts: dict[str, str]
    numbers: dict[str, str]
    entities: tuple[str, ...] = ("attribute", "tag")
    lists: tuple[str, ...] = ()  # attributes that may be compared with a list; empty: all texts
    orders: tuple[str, ...] = ()  # attributes that only order
    nulls: bool = False
    more: dict[str, str] = field(default_factory=dict)


RUNS = Language(
    texts={
        "run_id": "id", "run_name": "display_name", "run name": "display_name", "Run name": "display_name",
        "Run Name": "display_name", "status": "status", "user_id": "submitted_by", "artifact_uri": "artifact_uri",
    },
    numbers={"start_time": "began_ms", "created": "began_ms", "Created": "began_ms", "end_time": "ended_utc"},
    entities=("attribute", "metric", "param", "tag", "dataset"),
    lists=("run_id",),
    nulls=True,
)  # fmt: skip
EXPERIMENTS = Language(
    texts={"name": "name"},
    numbers={"creation_time": "creation_time", "last_update_time": "last_update_time"},
    orders=("experiment_id",),
)
REGISTERED_MODELS = Language(
    texts={"name": "name"},
    numbers={},
    orders=("timestamp", "last_updated_timestamp"),
)
VERSIONS = Language(
    texts={"name": "name", "run_id": "run_id", "source_path": "source"},
    numbers={"version_number": "version"},
    lists=("name", "run_id"),
    orders=("creation_timestamp", "last_updated_timestamp"),
)
LOGGED_MODELS = Language(
    texts={k: k for k in ("name", "model_id", "model_type", "status", "source_run_id")},
    numbers={
        "creation_timestamp": "creation_timestamp_ms", "creation_time": "creation_timestamp_ms",
        "last_updated_timestamp": "last_updated_timestamp_ms", "last_updated_time": "last_updated_timestamp_ms",
    },
    entities=("attribute", "metric", "param", "tag"),
)  # fmt: skip

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    |(?P<name>(?:`[^`]*`|[A-Za-z_][\w\-/]*)(?:\.(?:`[^`]*`|"[^"]*"|'[^']*'|[\w\-/]+))*)
    |(?P<text>'(?:[^']|'')*'|"[^"]*")
    |(?P<op><=|>=|!=|<>|=|<|>)
    |(?P<mark>[(),])
    )""",
    re.VERBOSE,
)


def parse_filter(text: str, language: Language) -> list[Condition]:
    """The conditions, all of which must hold. INVALID_PARAMETER_VALUE says where the text goes wrong."""
    if not text or not text.strip():
        return []
    reader = _Reader(text, language)
    found = [reader.comparison()]
    while not reader.is_done:
        reader.word("AND")
        found.append(reader.comparison())
    return found


def parse_order(text: str, language: Language) -> Order:
    """One entry of order_by: a column, then ASC or DESC."""
    reader = _Reader(text, language, "order_by clause")
    column = reader.column(for_order=True)
    ascending = True
    if not reader.is_done:
        kind, word = reader.take("ASC or DESC")
        if kind != "name" or word.upper() not in ("ASC", "DESC"):
            raise reader.wrong(f"{word!r} stands where ASC or DESC is expected")
        ascending = word.upper() == "ASC"
    if not reader.is_done:
        raise reader.wrong(f"{reader.take('')[1]!r} is too much")
    return Order(column[0], column[1], ascending)


class _Reader:
    def __init__(self, text: str, language: Language, what: str = "filter string") -> None:
        self._text, self._language, self._what = text, language, what
        self._tokens = list(self._split())
        self._at = 0

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._tokens)

    def wrong(self, why: str) -> MlflowError:
        return invalid(f"Invalid clause(s) in {self._what}: '{self._text:.500}': {why}.")

    def _split(self) -> Any:
        at, end = 0, len(self._text.rstrip())
        while at < end:
            matched = _TOKEN.match(self._text, at)
            if matched is None or not matched.lastgroup:
                raise self.wrong(f"{self._text[at:end].strip()[:40]!r} cannot be read; texts are quoted with ' or \"")
            yield matched.lastgroup, matched.group(matched.lastgroup)
            at = matched.end()

    def take(self, expected: str) -> tuple[str, str]:
        if self.is_done:
            raise self.wrong(f"it ends where {expected} is expected")
        self._at += 1
        return self._tokens[self._at - 1]

    def word(self, wanted: str) -> None:
        kind, text = self.take(wanted)
        if kind != "name" or text.upper() != wanted:
            hint = " OR and parentheses are not part of the language" if text.upper() == "OR" else ""
            raise self.wrong(f"{text!r} stands where {wanted} is expected{';' + hint if hint else ''}")

    def comparison(self) -> Condition:
        kind, key = self.column()
        op = self._operator()
        if op in ("IS NULL", "IS NOT NULL"):
            if not self._language.nulls or kind not in ("tag", "param"):
                raise self.wrong(f"{op} is only possible for tags and params of runs")
            return Condition(kind, key, op)
        is_number = kind == "metric" or (kind == "attribute" and key in self._language.numbers.values())
        allowed = _NUMBER_OPS if is_number else _TEXT_OPS if kind in ("tag", "param") else (*_TEXT_OPS, "IN", "NOT IN")
        if op not in allowed:
            raise self.wrong(f"{op} does not compare a {kind} such as '{key}'. Possible: {', '.join(allowed)}")
        if op in ("IN", "NOT IN"):
            return Condition(kind, key, op, self._list(kind, key))
        return Condition(kind, key, op, self._number(key) if is_number else self._quoted(kind, key))

    def column(self, for_order: bool = False) -> tuple[str, str]:
        kind, text = self.take("a column such as metrics.loss")
        if kind == "text" and for_order:
            text = "`" + text[1:-1] + "`"
        elif kind != "name":
            raise self.wrong(f"{text!r} stands where a column such as metrics.loss is expected")
        entity, dot, key = text.partition(".")
        if (text.startswith("`") and not dot) or not dot:
            entity, key = "attribute", text
        word = _bare(entity)
        if _ENTITIES.get(word) not in self._language.entities:
            known = ", ".join(f"'{name}'" for name in self._language.entities)
            raise invalid(f"Invalid entity type '{word}'. Valid values are {known}.")
        return _ENTITIES[word], self._key(_ENTITIES[word], _bare(key), for_order)

    def _key(self, kind: str, key: str, for_order: bool) -> str:
        if not key:
            raise self.wrong(f"a {kind} without a name")
        if kind == "dataset":
            if key not in ("name", "digest", "context"):
                raise invalid(f"Invalid dataset key '{key}' specified. Valid keys are 'name', 'digest', 'context'.")
            return key
        if kind != "attribute":
            return key
        known = {**self._language.texts, **self._language.numbers}
        if for_order:
            known.update({name: name for name in self._language.orders})
        if key not in known:
            raise invalid(f"Invalid attribute key '{key}' specified. Valid keys are {sorted(known)}.")
        return known[key]

    def _operator(self) -> str:
        kind, text = self.take("a comparison such as = or LIKE")
        if kind == "op":
            return "!=" if text == "<>" else text
        word = text.upper()
        if kind == "name" and word in ("LIKE", "ILIKE", "IN"):
            return word
        if kind == "name" and word == "NOT":
            self.word("IN")
            return "NOT IN"
        if kind == "name" and word == "IS":
            _, following = self.take("NULL or NOT NULL")
            if following.upper() == "NOT":
                self.word("NULL")
                return "IS NOT NULL"
            if following.upper() == "NULL":
                return "IS NULL"
        raise self.wrong(f"{text!r} stands where a comparison (=, !=, <, <=, >, >=, LIKE, ILIKE, IN) is expected")

    def _number(self, key: str) -> float:
        kind, text = self.take("a number")
        if kind != "number":
            raise self.wrong(f"Expected numeric value type for '{key}'. Found {text}")
        return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)

    def _quoted(self, kind: str, key: str) -> str:
        token, text = self.take("a quoted text")
        if token == "text":
            return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
        raise self.wrong(f"Expected a quoted string value for {kind} '{key}' (e.g. 'my-value'). Got value {text}")

    def _list(self, kind: str, key: str) -> list[str]:
        names = {self._language.texts[name] for name in self._language.lists} if self._language.lists else None
        if kind == "attribute" and names is not None and key not in names:
            raise self.wrong(
                f"Only {list(self._language.lists)} support comparison with a list of quoted string values"
            )
        if self.take("(")[1] != "(":
            raise self.wrong("a list is written ('a', 'b')")
        found = [self._quoted(kind, key)]
        while True:
            mark = self.take(") or ,")[1]
            if mark == ")":
                return found
            if mark != ",":
                raise self.wrong(f"{mark!r} stands where ) or , is expected")
            found.append(self._quoted(kind, key))


def _bare(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "`\"'" else text


def like(text: str, pattern: str, ignore_case: bool) -> bool:
    """SQL's LIKE."""
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL | (re.IGNORECASE if ignore_case else 0)) is not None


def holds(op: str, left: Any, right: Any) -> bool:
    """One comparison in Python, for what is not searched in the database. What is missing holds for nothing."""
    if left is None:
        return False
    if op in ("LIKE", "ILIKE"):
        return like(str(left), right, op == "ILIKE")
    if op in ("IN", "NOT IN"):
        return (left in right) == (op == "IN")
    compared: Optional[bool] = {
        "=": left == right,
        "!=": left != right,
    }.get(op)
    if compared is not None:
        return compared
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
