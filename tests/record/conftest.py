"""A record of its own for every test, in a folder with an awkward name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.record import Record
from rookery.spec.paths import WorkspacePaths
from rookery.spec.run import EnvironmentSpec, RunSpec


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    root = tmp_path / "a work's space"
    root.mkdir()
    return WorkspacePaths(str(root))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[str]:
    """The record's database: every test of the record runs on both."""
    if request.param == "sqlite":
        yield ""
        return
    url = request.getfixturevalue("postgres").emptied()
    monkeypatch.setenv("ROOKERY_DATABASE_URL", url)
    yield url


@pytest.fixture
def record(
    paths: WorkspacePaths,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    empty_record: Callable[[WorkspacePaths], str],
) -> Iterator[Record]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    if not database_url:
        empty_record(paths)
    record = Record(paths)
    yield record
    record.close()


@pytest.fixture
def make_run(record: Record) -> Callable[..., dict[str, Any]]:
    def make(run_id: str = "run-1", **fields: Any) -> dict[str, Any]:
        if fields.get("kind") != "child":
            fields.setdefault("script", "train.py")
        spec = RunSpec(
            run_id=run_id,
            experiment=fields.pop("experiment", "birds"),
            environment=EnvironmentSpec(python="python"),
            **fields,
        )
        return record.runs.create(spec, "owner")[0]

    return make
