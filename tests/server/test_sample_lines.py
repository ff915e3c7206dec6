"""Samples of nodes as lines of a chart."""

from __future__ import annotations

from rookery.server.sample_lines import sample_lines


def test_times_are_unix_seconds_and_the_same_sample_counts_once():
    def sample(time, cpu):
        return {"node": 0, "time": time, "cpu_percent": cpu, "memory_bytes": 5, "gpus": []}

    texts = ("1970-01-01T00:01:00.500000Z", "1970-01-01T00:01:00.500000Z", "1970-01-01T00:02:00.000000Z")
    (line,) = sample_lines([sample(text, number) for number, text in enumerate(texts)], 300)
    assert line["times"] == [60.5, 120.0]
    assert line["cpu_percent"] == [0, 2]
    (line,) = sample_lines([sample(7.5, 1)], 300)
    assert line["times"] == [7.5]
    (line,) = sample_lines([sample("at noon", 1)], 300)
    assert line["times"] == [None]
