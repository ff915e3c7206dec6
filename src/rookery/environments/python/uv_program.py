"""The uv program: where it is, and one call of it with its words streamed and its time limited."""

from __future__ import annotations

import importlib
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rookery.environments.building.process_tree import end_tree
from rookery.environments.specification.requirement import mask
from rookery.errors import EnvironmentBuildError

__all__ = ["Finished", "find_uv", "run_program"]


@dataclass(frozen=True)
class Finished:
    code: int
    output: str


def find_uv() -> str:
    """`ROOKERY_UV`, else the one of the installed `uv` package, else the one on PATH.

    Raises:
        EnvironmentBuildError: there is none.
    """
    given = os.environ.get("ROOKERY_UV")
    if given:
        if not os.access(given, os.X_OK):
            raise EnvironmentBuildError(
                f"ROOKERY_UV={given} is not an executable file. Set it to the uv program, or unset it."
            )
        return given
    try:
        return str(importlib.import_module("uv").find_uv_bin())
    except (ImportError, AttributeError, FileNotFoundError):
        pass
    found = shutil.which("uv")
    if found is None:
        raise EnvironmentBuildError(
            "The program uv, which installs packages, was not found. Install it beside Rookery: `pip install uv`."
        )
    return found


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Callable[[bytes], None],
    deadline: float,
    timeout_s: float,
    started: Callable[[int], None] | None = None,
    keep: Sequence[int] = (),
) -> Finished:
    """Run it to its end; what it says on stderr goes to `log` line by line, without passwords, and is
    returned too.

    Args:
        deadline: time.monotonic() at which the program and its children are killed.
        started: told the process id, which is also its group's.
        keep: file descriptors that it inherits (the build's locks: they stay held while it lives, even when
            we are killed).

    Raises:
        EnvironmentBuildError: the deadline passed; its details say {"step": "timeout"}.
    """
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(environment),
        start_new_session=True,
        pass_fds=tuple(keep),
        cwd="/",
    )
    lines: list[str] = []
    try:
        if started is not None:
            started(process.pid)
        assert process.stderr is not None
        for line in _lines(process, deadline):
            text = mask(line.decode("utf-8", "replace"))
            lines.append(text)
            log(text.encode() + b"\n")
        if process.poll() is None and time.monotonic() >= deadline:
            shown = next((x.strip() for x in reversed(lines) if x.strip()), "nothing yet")
            raise EnvironmentBuildError(
                f"Building took longer than environment_build_timeout_s={timeout_s:g} s and was stopped; "
                f"its last words: {shown!r}. "
                "Raise the setting (ROOKERY_ENVIRONMENT_BUILD_TIMEOUT_S), or ask for fewer or smaller "
                "packages.",
                details={"step": "timeout"},
            )
        return Finished(process.wait(), "\n".join(lines))
    finally:
        if process.poll() is None:
            end_tree(process.pid)  # what builds an image has children in sessions of their own
            process.wait()
        if process.stderr is not None:
            process.stderr.close()


def _lines(process: subprocess.Popen[bytes], deadline: float):  # type: ignore[no-untyped-def]
    """Whole lines until the program is gone or the deadline has passed. A grandchild that keeps the pipe
    open is not waited for.
    """
    assert process.stderr is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            ready = selector.select(min(left, 0.2))
            if not ready:
                if process.poll() is not None:
                    break
                continue
            data = os.read(process.stderr.fileno(), 65536)
            if not data:
                break
            *whole, rest = (rest + data).split(b"\n")
            yield from whole
    if rest:
        yield rest
    if time.monotonic() < deadline:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
