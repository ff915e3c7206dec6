"""Arguments as names and values."""

from __future__ import annotations

import pytest

from rookery.server.arguments import named_arguments


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], {}),
        (["--lr", 0.1, "--net=large"], {"lr": "0.1", "net": "large"}),
        (["-b", "4", "--fast", "--seed", "1"], {"b": "4", "fast": "true", "seed": "1"}),
        (["--shift", "-3", "--low", "-.5"], {"shift": "-3", "low": "-.5"}),
        (["a.csv", "b.csv", "--lr", "1"], {"argument 1": "a.csv", "argument 2": "b.csv", "lr": "1"}),
        (["--sizes", "1", "2", "--tag", "x", "--tag", "y"], {"sizes": "1 2", "tag": "x y"}),
        (["--text=a=b\nc", "--empty="], {"text": "a=b\nc", "empty": ""}),
    ],
)
def test_named_arguments(given, told):
    assert named_arguments(given) == told
