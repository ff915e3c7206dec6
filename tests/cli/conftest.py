"""`cli(...)` calls the program in this process, against a keeper in memory or whatever is there."""

import io
import json
import sys
from dataclasses import dataclass

import pytest

from rookery.cli import session
from rookery.cli.main import main
from tests.cli.fake import FakeKeeper


@dataclass
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=_refuse)

    @property
    def lines(self):
        return [json.loads(line, parse_constant=_refuse) for line in self.out.splitlines()]


def _refuse(name):
    raise AssertionError(f"{name} is not JSON")


class Stream(io.TextIOWrapper):
    """stdout as a file or, with is_tty, as a terminal."""

    def __init__(self, is_tty):
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self.is_tty = is_tty

    def isatty(self):
        return self.is_tty

    @property
    def text(self):
        return self.buffer.getvalue().decode("utf-8")


@pytest.fixture
def keeper(monkeypatch):
    fake = FakeKeeper()
    monkeypatch.setattr(session, "client", lambda: fake)
    monkeypatch.setattr(session, "running_client", lambda workspace: fake)
    return fake


@pytest.fixture
def cli(monkeypatch, tmp_path):
    """cli("ps", "--json") → Said. Keyword columns=60 makes it a terminal of that width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def call(*arguments, columns=None):
        out, err = Stream(columns is not None), Stream(columns is not None)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setenv("COLUMNS", str(columns or 80))
            code = main([str(a) for a in arguments])
        return Said(code, out.text, err.text)

    return call
