"""Lines of logs by number, against the plain reading of the same bytes."""

from __future__ import annotations

import random
import threading

import pytest

from rookery.errors import ArtifactNotFoundError
from rookery.record.log_index import MAX_LINE, PIECE, LogLines

LOG = "user_logs/std_log.txt"


@pytest.fixture(params=["sqlite"])
def database_url():
    """Nothing here asks the database for more than a size: once is enough."""
    return ""


@pytest.fixture
def log(record, make_run):
    make_run()

    def write(data):
        record.logs.append("run-1", LOG, record.logs.size("run-1", LOG), data)

    return write


def lines_of(data):
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if data.endswith(b"\n") or not data else lines


class TestRead:
    def test_every_line_of_a_random_log_as_it_grows(self, record, log):
        chance = random.Random(3)
        whole = b""
        for _ in range(30):
            part = b"".join(
                bytes([97 + chance.randrange(26)]) * chance.choice((0, 1, 50, 3000)) + b"\n" for _ in range(60)
            )
            part = part[: len(part) - chance.randrange(3)]
            log(part)
            whole += part
            expected = lines_of(whole)
            start = chance.randrange(len(expected))
            found = record.log_lines.read("run-1", LOG, start, 7)
            assert found["total"] == len(expected)
            assert found["lines"] == expected[start : start + 7]
            assert lines_of(whole[found["offset"] : found["end"]]) == expected[start : start + 7]
        assert len(whole) > 5 * PIECE

    @pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE])
    @pytest.mark.parametrize("end", [b"", b"\n"])
    def test_at_the_edges_of_pieces(self, record, log, size, end):
        data = b"x\n" * (size // 2) + b"y" * (size % 2) + end
        log(data)
        expected = lines_of(data)
        found = record.log_lines.read("run-1", LOG, -3, 10)
        assert (found["total"], found["lines"]) == (len(expected), expected[-3:])
        assert record.log_lines.read("run-1", LOG, 0, 2)["lines"] == expected[:2]
        assert record.log_lines.read("run-1", LOG, 10**9, 2)["lines"] == []

    def test_a_line_that_is_far_too_long_is_cut(self, record, log):
        log(b"a\n" + b"b" * (3 * PIECE) + b"\nc\n")
        found = record.log_lines.read("run-1", LOG)
        assert [len(line) for line in found["lines"]] == [1, MAX_LINE, 1]
        assert (found["cut"], found["total"]) == ([1], 3)

    @pytest.mark.parametrize("states", [900, 20_000])
    def test_a_progress_bar_that_is_too_long_shows_its_last_state(self, record, log, states):
        bar = b"".join(b"\r%d of %d" % (at, states) for at in range(1, states + 1))
        log(b"a\n" + bar + b"\r\nc\n" + bar)
        found = record.log_lines.read("run-1", LOG)
        last = f"{states} of {states}"
        assert (found["lines"], found["cut"]) == (["a", last, "c", last], [1, 3])

    def test_an_answer_is_bounded(self, record, log):
        log((b"z" * 3000 + b"\n") * 2000)
        found = record.log_lines.read("run-1", LOG, 0, 5000)
        assert found["total"] == 2000
        assert 300 < len(found["lines"]) < 400
        following = record.log_lines.read("run-1", LOG, len(found["lines"]), 1)
        assert following["offset"] == found["end"]

    def test_no_bytes_no_lines(self, record, log):
        log(b"")
        assert record.log_lines.read("run-1", LOG)["lines"] == []
        assert record.log_lines.index("run-1", LOG)["lines"] == 0
        with pytest.raises(ArtifactNotFoundError, match="70_driver_log"):
            record.log_lines.read("run-1", "user_logs/nothing.txt")

    def test_windows_lines_and_bytes_that_are_no_text(self, record, log):
        log(b"one\r\n\xff\xfe two\n")
        assert record.log_lines.read("run-1", LOG)["lines"] == ["one", "\ufffd\ufffd two"]


class TestSearch:
    def test_every_place_across_pieces(self, record, log):
        filler = b"lorem ipsum\n" * 5461  # 12 × 5461 = PIECE − 4: the word lies across the edge
        log(filler + b"NeedLe one\n" + filler + b"x needle y\n")
        data = filler + b"NeedLe one\n" + filler + b"x needle y\n"
        found = record.log_lines.search("run-1", LOG, "needle")
        places = [data.lower().index(b"needle"), data.rindex(b"needle")]
        assert [m["offset"] for m in found["matches"]] == places
        assert [m["line"] for m in found["matches"]] == [5461, 2 * 5461 + 1]
        assert [m["column"] for m in found["matches"]] == [0, 2]
        last = found["matches"][-1]
        assert last["text"][last["at"] : last["at"] + last["length"]] == "needle"
        assert found["next"] is None
        assert len(record.log_lines.search("run-1", LOG, "needle", case=True)["matches"]) == 1

    def test_page_by_page(self, record, log):
        log(b"hit hit\n" * 100)
        seen, after = [], 0
        while after is not None:
            found = record.log_lines.search("run-1", LOG, "hit", after=after, limit=30)
            seen += [m["offset"] for m in found["matches"]]
            after = found["next"]
        assert seen == [i * 4 for i in range(200)]

    def test_letters_of_more_than_one_byte(self, record, log):
        log("grün wie Gänse\n".encode())
        (match,) = record.log_lines.search("run-1", LOG, "Gänse")["matches"]
        assert (match["column"], match["length"]) == (9, 5)


class TestMarks:
    def test_errors_are_found_as_the_log_grows(self, record, log):
        log(b"fine\nTraceback (most recent call last):\n  File x\nValueError: bad")
        first = record.log_lines.index("run-1", LOG)
        assert [(m["line"], m["kind"]) for m in first["marks"]] == [(1, "traceback")]
        log(b" shape\n2026 WARNING: hot\nno error here: Errors are fine\nERROR 5\n")
        found = record.log_lines.index("run-1", LOG)
        assert [(m["line"], m["kind"], m["text"]) for m in found["marks"]] == [
            (1, "traceback", "Traceback (most recent call last):"),
            (3, "error", "ValueError: bad shape"),
            (4, "warning", "2026 WARNING: hot"),
            (6, "error", "ERROR 5"),
        ]
        assert (found["lines"], found["marks_from"], found["more"]) == (7, 0, False)

    def test_too_many_are_the_last_ones(self, record, log):
        log(b"ERROR again\n" * 3000)
        found = record.log_lines.index("run-1", LOG)
        assert len(found["marks"]) == 500
        assert found["marks"][-1]["line"] == 2999
        assert found["more"]

    def test_a_line_made_to_be_slow_is_not(self, record, log):
        log(b"a." * (8 * PIECE) + b"\n")  # would take minutes if names were looked for without a bound
        assert record.log_lines.index("run-1", LOG)["marks"] == []

    def test_readers_at_the_same_time(self, record, log):
        log(b"a line\n" * 100_000)
        lines = LogLines(record.logs, record.paths)
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(lines.read("run-1", LOG, -1, 1)["total"])) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [100_000] * 8
