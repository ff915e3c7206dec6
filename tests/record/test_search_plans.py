"""A search finds the same runs in the same order, wherever it begins to look."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from rookery.record.metric_values import chunk_of_values
from rookery.record.search import Condition, Order
from rookery.spec.run import RunKind, RunSpec

RUNS = 40
CONDITIONS = (
    (),
    (Condition("metric", "loss", "<", 5.0),),
    (Condition("metric", "loss", "!=", 3.0), Condition("param", "lr", "=", "1")),
    (Condition("metric", "loss", ">", 100.0),),
    (Condition("param", "lr", "!=", "1"), Condition("tag", "kind", "=", "good")),
    (Condition("param", "lr", "LIKE", "1%"), Condition("tag", "kind", "IS NOT NULL")),
    (Condition("tag", "kind", "IS NULL"), Condition("attribute", "display_name", "LIKE", "run 1%")),
    (Condition("tag", "rare", "=", "yes"), Condition("metric", "acc", ">=", 0.0)),
)
ORDERS = (
    (),
    (Order("metric", "loss", True),),
    (Order("metric", "loss", False), Order("param", "lr", True)),
    (Order("metric", "absent", True),),
    (Order("param", "lr", False),),
    (Order("attribute", "display_name", True), Order("metric", "acc", False)),
)


@pytest.fixture
def filled(record):
    """(the experiment, what each run has)."""
    dice = random.Random(7)
    experiment = record.experiments.create("searched")["id"]
    other = record.experiments.create("other")["id"]
    facts = []
    for n in range(RUNS):
        fact = {"id": f"r{n:03}", "name": f"run {n}", "began": 1_700_000_000_000 + n // 2, "seq": n}
        fact["loss"] = dice.choice([None, math.nan, 1.0, 3.0, 5.0, 7.5, -2.0])
        fact["acc"] = dice.choice([None, 0.5, 0.25])
        fact["lr"] = dice.choice([None, "1", "10", "2"])
        fact["tags"] = {"kind": dice.choice(["good", "bad"])} if n % 3 else {}
        if n == 17:
            fact["tags"]["rare"] = "yes"
        record.external.create(
            RunSpec(
                fact["id"], "other" if n % 10 == 9 else "searched", kind=RunKind.EXTERNAL, compute="external",
                display_name=fact["name"], tags=fact["tags"],
            ),
            "me",
            fact["began"],
        )  # fmt: skip
        metrics = [(k, chunk_of_values([fact[k]], [0], [1.0])) for k in ("loss", "acc") if fact[k] is not None]
        record.external.log(fact["id"], metrics=metrics, params={"lr": fact["lr"]} if fact["lr"] else {})
        if n % 7 == 0:
            record.external.delete(fact["id"])
        elif n % 10 != 9:
            facts.append(fact)
    assert other != experiment
    return experiment, facts


def value_of(fact, kind, key):
    if kind == "metric":
        return fact.get(key)
    if kind == "param":
        return fact["lr"]
    if kind == "tag":
        return fact["tags"].get(key)
    return fact["name"]


def holds(fact, condition):
    value = value_of(fact, condition.kind, condition.key)
    if condition.op == "IS NULL":
        return value is None
    if condition.op == "IS NOT NULL":
        return value is not None
    if value is None or value != value:
        return False
    if condition.op == "LIKE":
        return value.startswith(condition.value[:-1])
    return {
        "=": value == condition.value,
        "!=": value != condition.value,
        "<": condition.op == "<" and value < condition.value,
        ">": condition.op == ">" and value > condition.value,
        ">=": condition.op == ">=" and value >= condition.value,
    }[condition.op]


def expected(facts, conditions, order):
    """Missing values last, NaN before them; then the latest first."""
    found = [fact for fact in facts if all(holds(fact, c) for c in conditions)]
    found.sort(key=lambda fact: (-fact["began"], -fact["seq"]))
    for one in reversed(order):
        there = [f for f in found if value_of(f, one.kind, one.key) is not None]
        numbers = [f for f in there if value_of(f, one.kind, one.key) == value_of(f, one.kind, one.key)]
        numbers.sort(key=lambda f: value_of(f, one.kind, one.key), reverse=not one.ascending)
        no_numbers = [f for f in there if value_of(f, one.kind, one.key) != value_of(f, one.kind, one.key)]
        found = numbers + no_numbers + [f for f in found if value_of(f, one.kind, one.key) is None]
    return [fact["id"] for fact in found]


@pytest.mark.parametrize("few", [0, 5, 2000], ids=["none is few", "some are few", "all are few"])
def test_every_way_finds_the_same(record, filled, monkeypatch, few):
    monkeypatch.setattr("rookery.record.search_plan.FEW", few)
    experiment, facts = filled
    for conditions, order in itertools.product(CONDITIONS, ORDERS):
        wanted = expected(facts, conditions, order)
        found, is_more = record.search.runs([experiment], conditions, order, 1000)
        assert [run["id"] for run in found] == wanted, (conditions, order)
        assert not is_more
        paged: list[str] = []
        for offset in range(0, len(wanted) + 7, 7):
            part, is_more = record.search.runs([experiment], conditions, order, 7, offset)
            paged += [run["id"] for run in part]
            assert is_more == (offset + 7 < len(wanted))
        assert paged == wanted, (conditions, order)
