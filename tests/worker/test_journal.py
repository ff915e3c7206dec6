"""The journal: what is written is read back, whoever writes and whatever breaks."""

from __future__ import annotations

import errno
import math
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.worker import journal as module
from rookery.worker.journal import Journal, read_journal


@pytest.fixture
def journal(tmp_path):
    made = Journal(str(tmp_path / "j"))
    yield made
    made.close()


class TestRoundTrip:
    def test_scalars_keep_value_type_step_and_time(self, journal):
        for value in (1.5, 3, -0.0, 1e300, float("inf"), float("-inf"), float("nan"), 2**80):
            journal.scalar('ü "x"\n', value, 7)
        records, end, damaged = read_journal(journal.path)
        assert damaged == 0
        assert end == os.path.getsize(journal.path)
        assert {r[2] for r in records} == {'ü "x"\n'}
        assert all(r[4] == 7 and r[5] > 1.7e9 for r in records)
        assert [r[3] for r in records][:6] == [1.5, 3, -0.0, 1e300, float("inf"), float("-inf")]
        assert isinstance(records[1][3], int)
        assert math.isnan(records[6][3])
        assert records[7][3] == 2**80

    @given(
        st.lists(
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(),
                lambda inner: st.lists(inner, max_size=3),
            ),
            min_size=1,
        )
    )
    def test_any_record(self, tmp_path_factory, data):
        journal = Journal(str(tmp_path_factory.mktemp("j")))
        journal.append(["d", None, "n", data])
        records, _, damaged = read_journal(journal.path)
        journal.close()
        assert (records, damaged) == ([["d", None, "n", data]], 0)

    def test_read_in_helpings(self, journal):
        for i in range(100):
            journal.scalar("x", i)
        journal.append(["d", None, "long", "y" * 5000])
        seen, offset = [], 0
        while True:
            records, end, _ = read_journal(journal.path, offset, limit=300)
            if end == offset:
                break
            seen, offset = seen + records, end
        assert [r[3] for r in seen[:100]] == list(range(100))
        assert len(seen) == 101


class TestManyWriters:
    def test_threads_do_not_tear_lines(self, journal):
        def write(n):
            for i in range(500):
                journal.scalar(f"t{n}", i)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        records, _, damaged = read_journal(journal.path)
        assert damaged == 0
        assert all([r[3] for r in records if r[2] == f"t{n}"] == list(range(500)) for n in range(4))

    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
    def test_forked_child_has_its_own_file(self, journal):
        journal.scalar("x", 1)
        pid = os.fork()
        if pid == 0:
            journal.scalar("x", 2)
            os._exit(0)
        os.waitpid(pid, 0)
        journal.scalar("x", 3)
        files = sorted(os.listdir(journal.folder), key=lambda n: int(n.split("-")[0]) == pid)
        found = [[r[3] for r in read_journal(os.path.join(journal.folder, f))[0]] for f in files]
        assert found == [[1, 3], [2]]
        assert files[1].startswith(f"{pid}-")


class TestDamage:
    def test_incomplete_last_line_is_left_for_later(self, journal):
        journal.scalar("x", 1)
        size = os.path.getsize(journal.path)
        with open(journal.path, "ab") as f:
            f.write(b'12345678 ["m"')
        assert read_journal(journal.path)[1:] == (size, 0)

    def test_damaged_lines_are_counted_and_skipped(self, journal):
        journal.scalar("x", 1)
        with open(journal.path, "ab") as f:
            f.write(b'00000000 ["m"]\nzz\n')
        journal.scalar("x", 2)
        records, _, damaged = read_journal(journal.path)
        assert ([r[3] for r in records], damaged) == ([1, 2], 2)


class TestDiskFull:
    def test_warns_once_counts_and_goes_on(self, journal, monkeypatch, capsys):
        journal.scalar("x", 1)
        real = os.write

        def full(fd, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(module, "_write", full)
        for _ in range(3):
            journal.scalar("x", 2)
        journal.append(["g", None, {}])
        assert journal.dropped == 4
        assert capsys.readouterr().err.count("cannot be written") == 1
        monkeypatch.setattr(module, "_write", real)
        journal.append(["g", None, {"a": "b"}])
        records, _, damaged = read_journal(journal.path)
        assert damaged == 0
        assert [r[0] for r in records] == ["m", "g", "w"]
        assert "4 records" in records[-1][2]

    def test_short_write_loses_one_record_only(self, journal, monkeypatch):
        real = os.write
        journal.scalar("x", 1)
        monkeypatch.setattr(module, "_write", lambda fd, data: real(fd, data[:10]))
        journal.scalar("x", 2)
        monkeypatch.setattr(module, "_write", real)
        journal.scalar("x", 3)
        records, _, damaged = read_journal(journal.path)
        assert [r[3] for r in records if r[0] == "m"] == [1, 3]
        assert damaged == 1

    def test_folder_that_cannot_be_made(self, tmp_path, capsys):
        (tmp_path / "file").write_text("")
        journal = Journal(str(tmp_path / "file" / "j"))
        journal.scalar("x", 1)
        assert journal.dropped == 1
        assert "Training goes on" in capsys.readouterr().err
