from __future__ import annotations

import glob
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.errors import RunConfigError, StorageError, UserError
from rookery.record import Record
from rookery.record.sealing import Sealer
from rookery.record.secrets import check_values
from rookery.spec.run import MASK

VALUE = "correct-horse-battery-staple-äöü"


class TestSealer:
    @given(st.text(), st.text())
    @settings(max_examples=50)
    def test_opens_what_it_sealed(self, place, value):
        sealer = Sealer(b"s" * 32)
        assert sealer.open(place, sealer.seal(place, value)) == value

    def test_the_same_value_never_looks_the_same(self):
        sealer = Sealer(b"s" * 32)
        first, second = sealer.seal("p", VALUE), sealer.seal("p", VALUE)
        assert first != second
        assert VALUE.encode() not in first
        assert sealer.mark(VALUE) == sealer.mark(VALUE) != Sealer(b"t" * 32).mark(VALUE)

    def test_what_was_changed_or_moved_or_is_anothers_is_refused(self):
        sealer = Sealer(b"s" * 32)
        sealed = sealer.seal("run/a/X", VALUE)
        for broken in (sealed[:-1], b"", b"\x02" + sealed[1:], sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:]):
            with pytest.raises(StorageError, match="keeper/secret"):
                sealer.open("run/a/X", broken)
        with pytest.raises(StorageError):
            sealer.open("run/b/X", sealed)
        with pytest.raises(StorageError):
            Sealer(b"t" * 32).open("run/a/X", sealed)


class TestOfRuns:
    def make(self, record, run_id="run-1", **fields):
        from rookery.spec.run import EnvironmentSpec, RunSpec

        values = fields.pop("values", {"TOKEN": VALUE})
        spec = RunSpec(
            run_id, "birds", script="t.py", variables={"TOKEN": MASK, "A": "1"}, secrets=("TOKEN",),
            environment=fields.pop("environment", EnvironmentSpec(python="python")), **fields,
        )  # fmt: skip
        return record.runs.create(spec, "owner", values)[0]

    def test_are_kept_apart_and_survive_a_restart(self, paths, record):
        run = self.make(record)
        assert run["spec"]["variables"] == {"TOKEN": MASK, "A": "1"}
        other = Record(paths)
        assert other.secrets.of_run("run-1") == {"TOKEN": VALUE}
        assert other.secrets.of_run("run-2") == {}
        other.close()

    def test_no_file_of_the_workspace_has_them_in_clear(self, paths, record):
        self.make(record)
        record.close()
        files = [
            p for p in glob.glob(os.path.join(glob.escape(paths.root), "**", "*"), recursive=True) if os.path.isfile(p)
        ]
        assert any(p.endswith("record.db") for p in files) == (record.database.is_sqlite)
        for path in files:
            with open(path, "rb") as f:
                assert VALUE.encode() not in f.read(), path

    def test_a_run_without_the_value_is_refused_and_leaves_nothing(self, record):
        with pytest.raises(RunConfigError, match="'TOKEN' has no value"):
            self.make(record, values={})
        assert record.runs.find("run-1") is None

    def test_a_value_that_nobody_asked_for_is_refused(self, record):
        with pytest.raises(RunConfigError, match="'OTHER'"):
            self.make(record, values={"TOKEN": VALUE, "OTHER": "x"})

    def test_the_registered_environment_provides_them(self, record):
        from rookery.spec.run import EnvironmentSpec

        definition = {"name": "mine", "environmentVariables": {"TOKEN": MASK}}
        record.environments.register(definition, {"TOKEN": VALUE}, "me")
        self.make(record, values={}, environment=EnvironmentSpec(name="mine", version="1", python="python"))
        assert record.secrets.of_run("run-1") == {"TOKEN": VALUE}


class TestCheckValues:
    @pytest.mark.parametrize("values", [[], {"A": 1}, {"A": "x\0"}, {"": "x"}, {"A=B": "x"}, {"A": "x" * 200_000}])
    def test_refuses_what_is_no_variable_without_quoting_the_value(self, values):
        with pytest.raises(UserError) as caught:
            check_values(values)
        assert "xx" not in caught.value.message
