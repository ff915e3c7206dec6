from __future__ import annotations

import os

import pytest

from rookery.errors import ArtifactNotFoundError, ConflictError, PathError, RunNotFoundError
from rookery.record.logs import LOOSE_ROWS
from rookery.spec.status import RunStatus

LOG = "azureml-logs/70_driver_log.txt"


class TestAppend:
    def test_offsets_make_it_idempotent(self, record, make_run):
        make_run()
        assert record.logs.append("run-1", LOG, 0, b"hello ") == 6
        assert record.logs.append("run-1", LOG, 0, b"hello ") == 6
        assert record.logs.append("run-1", LOG, 3, b"lo world") == 11
        with pytest.raises(ConflictError) as gap:
            record.logs.append("run-1", LOG, 12, b"x")
        assert gap.value.details == {"offset": 11}
        assert record.logs.read("run-1", LOG) == b"hello world"
        assert record.logs.read("run-1", LOG, 6, 3) == b"wor"
        assert record.logs.read("run-1", LOG, 99) == b""
        assert record.logs.sizes("run-1") == {LOG: 11}

    def test_both_runtimes_names(self, record, make_run):
        make_run()
        record.logs.append("run-1", "user_logs/std_log.txt", 0, b"x")
        assert record.logs.size("run-1", LOG) == 1

    def test_bytes_beyond_the_stored_size_are_an_unfinished_append(self, record, make_run, paths):
        make_run()
        record.logs.append("run-1", LOG, 0, b"abc")
        with open(paths.log("run-1", LOG), "ab") as f:
            f.write(b"TORN")
        assert record.logs.read("run-1", LOG) == b"abc"
        record.logs.append("run-1", LOG, 3, b"d")
        assert record.logs.read("run-1", LOG) == b"abcd"

    @pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\x00b", "x" * 5000, "", "C:/x"])
    def test_path_tricks(self, record, make_run, name):
        make_run()
        with pytest.raises(PathError):
            record.logs.append("run-1", name, 0, b"x")

    def test_a_link_in_the_folder_is_not_followed(self, record, make_run, paths, tmp_path):
        make_run()
        os.makedirs(os.path.dirname(paths.log("run-1", "a.txt")))
        os.symlink(tmp_path / "outside", paths.log("run-1", "a.txt"))
        with pytest.raises(PathError):
            record.logs.append("run-1", "a.txt", 0, b"x")
        assert not (tmp_path / "outside").exists()

    def test_a_name_below_a_file_is_refused(self, record, make_run):
        make_run()
        record.logs.append("run-1", "a", 0, b"x")
        with pytest.raises(PathError):
            record.logs.append("run-1", "a/b", 0, b"x")

    def test_unknown(self, record, make_run):
        with pytest.raises(RunNotFoundError):
            record.logs.append("nobody", LOG, 0, b"x")
        make_run()
        with pytest.raises(ArtifactNotFoundError, match="Known: none"):
            record.logs.read("run-1", "nothing.txt")


def log_rows(record, after=0):
    rows, seq = [], after
    while True:
        page, _ = record.events.after(seq, "run-1")
        if not page:
            return rows
        seq = page[-1]["seq"]
        rows += [row for row in page if row["kind"] == "log"]


class TestMerging:
    def test_rows_are_merged_and_a_reader_in_the_middle_misses_nothing(self, record, make_run):
        make_run()
        size = 0
        middle = None
        for n in range(LOOSE_ROWS + 50):
            size = record.logs.append("run-1", LOG, size, b"line %d\n" % n)
            if n == 100:
                middle = (record.events.last_seq(), size)
        rows = log_rows(record)
        assert len(rows) <= 51
        # Whole and in order, for one who reads from the start and for one who stopped in the middle.
        for after, have in ((0, 0), middle):
            for row in log_rows(record, after):
                assert row["start"] <= have
                have = max(have, row["start"] + row["length"])
            assert have == size
        record.runs.advance("run-1", status=RunStatus.COMPLETED)
        assert [(r["start"], r["length"]) for r in log_rows(record)] == [(0, size)]
        events = record.events.after(0, "run-1")[0]
        assert events[-1]["kind"] == "status"

    def test_no_row_is_very_large(self, record, make_run):
        make_run()
        record.logs.append("run-1", LOG, 0, b"x" * 1_000_000)
        rows = log_rows(record)
        assert [r["length"] for r in rows] == [262144, 262144, 262144, 213568]
