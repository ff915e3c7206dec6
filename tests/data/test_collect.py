"""`rookery gc` and data: what no version and no run names goes, and nothing else."""

from __future__ import annotations

import os

import pytest
from sqlalchemy import select, update

from rookery.data import resolver_of
from rookery.errors import DatasetNotFoundError, NotFoundError
from rookery.record.run_data import data_row
from rookery.record.schema_data import data_definitions, data_manifests
from rookery.spec.run import RunSpec
from rookery.spec.status import RunStatus

LONG_AGO = "2001-01-01T00:00:00.000000Z"
DAY = 86400.0


def add(record, name):
    """A definition that was resolved: (its id, its manifest)."""
    _, spec, _ = record.datastores.opening(record.datastores.default())
    os.makedirs(os.path.join(spec["folder"], name), exist_ok=True)
    path = os.path.join(spec["folder"], name, "file")
    if not os.path.exists(path):
        with open(path, "w") as f:
            f.write(name)
    definition = {"kind": "file", "sources": [{"datastore": record.datastores.default(), "path": name}]}
    saved = record.datasets.save(definition, "owner")
    return saved["id"], resolver_of(record).resolve(saved["definition"])


def age(record):
    with record.database.write() as tx:
        for table in (data_definitions, data_manifests):
            tx.conn.execute(update(table).values(created_utc=LONG_AGO))
    record.manifests._recent.clear()


def collect(record, dry_run=False):
    found = {c.kind: (c.items, c.removed) for c in record.collector.collect(dry_run, DAY)}
    return found["manifests"], found["definitions"]


def ids(record):
    with record.database.read() as conn:
        return {i for table in (data_definitions, data_manifests) for (i,) in conn.execute(select(table.c.id))}


def test_only_what_nothing_names_and_is_old_goes(record):
    unused, registered, used, asked = (add(record, name) for name in ("unused", "registered", "used", "asked"))
    record.datasets.register({"name": "set", "definition_id": registered[0]}, registered[1], "owner")
    spec = {"inputs": [{"name": "x", "definition_id": asked[0]}]}
    for run_id, given in (("run-1", {}), ("run-2", spec)):
        record.runs.create(RunSpec(run_id, "exp", **_inputs(given)), "owner")
        record.runs.advance(run_id, status=RunStatus.FAILED)
    record.run_data.put("run-1", [data_row("in", "x", "mount", used[0], used[1])])
    everything = ids(record)
    assert collect(record) == ((0, 0), (0, 0))  # too young
    age(record)
    assert collect(record, dry_run=True) == ((2, 0), (1, 0))
    assert ids(record) == everything
    assert collect(record) == ((2, 2), (1, 1))
    assert everything - ids(record) == {unused[0], unused[1].id, asked[1].id}
    assert record.datasets.get("set")["id"] == registered[0]
    assert record.manifests.get(used[1].id) == used[1]
    assert record.datasets.definition(asked[0])  # its run may be submitted again
    with pytest.raises(DatasetNotFoundError):
        record.datasets.definition(unused[0])
    with pytest.raises(NotFoundError):
        record.manifests.get(unused[1].id)


def test_what_is_asked_for_again_is_young_again(record):
    add(record, "x")
    age(record)
    add(record, "x")
    assert collect(record) == ((0, 0), (0, 0))


def _inputs(given):
    from rookery.spec.data import DataInput

    return {"inputs": tuple(DataInput(**one) for one in given.get("inputs", ()))}
