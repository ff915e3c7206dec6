"""What a node is asked when a target is checked from the other side: a small program, and its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from rookery.engine.reach import probe_program as program
from rookery.errors import ComputeError
from rookery.spec.plain import to_plain
from rookery.worker import tls

__all__ = ["Questions", "probe_program", "read_answer"]


@dataclass(frozen=True)
class Questions:
    """marks: name → [file, text]: whether a node sees the file with this text. urls: where the keeper might be reached.
    writable: the marks beside which a node must be able to write. programs: paths that it should be able to start."""

    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    urls: tuple[str, ...] = ()
    certificate: str = ""
    node_home: str = ""
    programs: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    timeout_s: float = 5.0


def probe_program(questions: Questions) -> str:
    """For `<python> -I -` on a node; Python 3.6 and newer, so that an old one can be named."""
    text = _put(_source(program), "Q = {}", f"Q = json.loads({json.dumps(json.dumps(to_plain(questions)))})")
    if any(url.startswith("https:") for url in questions.urls):
        text = _put(text, 'TLS = ""', f"TLS = {json.dumps(_source(tls))}")
    return text


def read_answer(output: str) -> dict[str, Any]:
    """What the program found, whatever else was printed around it.

    Raises:
        ComputeError: there is no answer in it; shows what there is.
    """
    for line in reversed(output.splitlines()):
        if line.startswith(program.MARK):
            try:
                found = json.loads(line[len(program.MARK) :])
            except ValueError:
                break
            if isinstance(found, dict):
                return found
    said = " ".join(output.split())[-300:] or "nothing"
    raise ComputeError(f"A program on a node gave no answer. It printed: {said}")


def _source(module: Any) -> str:
    with open(module.__file__, encoding="utf-8") as f:
        return f.read()


def _put(text: str, beginning: str, line: str) -> str:
    """The one line that begins so is replaced."""
    lines = text.split("\n")
    [at] = [i for i, found in enumerate(lines) if found.startswith(beginning)]
    lines[at] = line
    return "\n".join(lines)
