"""Keeps one bridge process alive and speaks with it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, Optional

from rookery.engine.engines.ray.interpreter import bridge_variables, find_interpreter, wanted_versions
from rookery.engine.engines.ray.notes import Notes
from rookery.errors import RookeryError
from rookery.spec.engine_options import RayOptions

__all__ = ["Supervisor"]

log = logging.getLogger(__name__)
PAUSES_S = (0.2, 1.0, 2.0, 5.0, 10.0, 20.0)
PASSING_PAUSES_S = (0.1, 0.5, 1.0, 2.0)
PASSING = ("stumbled", "silent", "lost")  # what may pass by itself, and mostly does at the next try
PASSING_S = 90.0  # so long it is tried again before whoever waits is told
GIVE_UP = 2  # failures in a row: once is nothing
STALE_S = 40.0  # a bridge that says nothing for so long hangs in a call to a head that is gone
CONNECT_S = 90.0  # and so long it may take to connect
LOG_BYTES = 2_000_000
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bridge")
_LAUNCH = (
    "import importlib.util as u, sys; f = sys.argv[1]; "
    "s = u.spec_from_file_location('rookery_ray_bridge', f + '/__init__.py', submodule_search_locations=[f]); "
    "m = u.module_from_spec(s); sys.modules['rookery_ray_bridge'] = m; s.loader.exec_module(m); "
    "from rookery_ray_bridge.main import main; main()"
)


class Supervisor:
    """Starts the bridge, starts it again with growing pauses when it dies, and finds the versions that it must have.

    `problem` says in words why the cluster cannot be used now; empty when it can. `away_since` is when the cluster was last
    found not to answer (monotonic; None while it does, or while nobody has tried). `has_given_up` says whether there is any
    sense in waiting for it: a bridge that has failed twice has, except for what may pass by itself (PASSING), which is tried for
    a while. It goes on trying all the same.

    Args:
        on_word: called in this thread with everything that the bridge says, "connected" first.
        on_away: called in this thread when the bridge is gone.
    """

    def __init__(
        self,
        name: str,
        options: RayOptions,
        notes: Notes,
        folder: str,
        on_word: Callable[[dict[str, Any]], None],
        on_away: Callable[[], None],
    ) -> None:
        self.problem = f"the bridge to the Ray cluster at {options.address} is being started"
        self._failures = 0  # in a row
        self._passing_since: Optional[float] = None  # monotonic
        self._tries = 0  # in a row, that may pass by themselves
        self._is_explained = False  # whether the bridge has said why it leaves
        self.away_since: Optional[float] = None
        self._name, self._options, self._notes = name, options, notes
        self._log_path = os.path.join(folder, "bridge.log")
        self._on_word, self._on_away = on_word, on_away
        self._process: Optional[subprocess.Popen[str]] = None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"rookery-ray-{name}", daemon=True)

    @property
    def has_given_up(self) -> bool:
        return self._failures >= GIVE_UP

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The bridge leaves; what it has placed stays."""
        self._closing.set()
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()  # its thread sees the end of the other pipe
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(10)

    def send(self, order: dict[str, Any]) -> bool:
        """Whether the bridge has got it; a bridge that is gone is told again what is wanted when it is back."""
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                return False
            try:
                process.stdin.write(json.dumps(order) + "\n")
                process.stdin.flush()
                return True
            except (OSError, ValueError):
                return False

    def _run(self) -> None:
        while not self._closing.is_set():
            began, was_connected = time.monotonic(), False
            try:
                was_connected = self._one_life()
            except RookeryError as error:
                self._say_problem(error.message)
            except OSError as error:
                self._say_problem(f"The bridge to Ray could not be started: {error}.")
            except Exception:
                log.exception("The bridge of '%s' failed", self._name)
                self._say_problem("The bridge to Ray failed; keeper.log says how.")
            finally:
                self._end()
                self._on_away()
            if was_connected and time.monotonic() - began > 20:
                self._failures = 0
            self._closing.wait(self._pause_s())

    def _one_life(self) -> bool:
        """From the start of a bridge to its end; whether it was connected."""
        if not self._options.bridge_python:
            ray, python = wanted_versions(self._options, self._notes.versions())
            self.problem = f"an environment with Ray {ray} and Python {python} is being made for the bridge"
        python = find_interpreter(self._options, self._notes.versions(), f"ray-bridge-{self._name}", self._build_log)
        if not self._failures and not self._tries:
            self.problem = f"the bridge connects to the Ray cluster at {self._options.address}"
        self._is_explained = False
        _shorten(self._log_path)
        with open(self._log_path, "ab") as errors:
            process = subprocess.Popen(
                [python, "-I", "-c", _LAUNCH, _FOLDER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=bridge_variables(self._options),
                cwd="/",
                start_new_session=True,
                text=True,
                encoding="utf-8",
            )
        with self._lock:
            self._process = process
        order = {"do": "connect", "address": self._options.address, "namespace": self._options.namespace}
        self.send({**order, "prefix": self._notes.prefix()})
        return self._listen(process)

    def _listen(self, process: subprocess.Popen[str]) -> bool:
        assert process.stdout is not None
        was_connected, rest, heard = False, b"", time.monotonic()
        pipe = process.stdout.fileno()
        while not self._closing.is_set():
            ready, _, _ = select.select([pipe], [], [], 1.0)
            if not ready:
                if time.monotonic() - heard > (STALE_S if was_connected else CONNECT_S):
                    self._say_problem(f"The Ray cluster at {self._options.address} does not answer any more.")
                    return was_connected
                continue
            data = os.read(pipe, 1 << 16)
            if not data:
                break
            heard = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                was_connected |= self._word(json.loads(line))
        if not self._closing.is_set() and not self._is_explained:
            self._say_problem(
                f"The bridge to the Ray cluster at {self._options.address} has died (see {self._log_path})."
            )
        return was_connected

    def _word(self, word: dict[str, Any]) -> bool:
        if word["say"] == "beat":
            return False
        if word["say"] == "failed":
            self._failed(word)
            return False
        if word["say"] == "connected":
            self._notes.keep_versions(word["ray"], word["python"])
            self.problem, self.away_since, self._passing_since, self._tries = "", None, None, 0
            log.info("'%s': connected to Ray %s at %s as %s", self._name, word["ray"], word["address"], word["mode"])
        self._on_word(word)
        return bool(word["say"] == "connected")

    def _failed(self, word: dict[str, Any]) -> None:
        self._is_explained = True
        if word["kind"] in PASSING:
            self._stumble(word["kind"], word["words"])
            return
        if word["kind"] != "mismatch":
            self._say_problem(word["words"])
            return
        known = self._notes.versions()
        if self._options.bridge_python:
            self._say_problem(
                f"{word['words']} {self._options.bridge_python} (the target's bridge_python) has others: give one that "
                "fits, or leave it out, and an environment is made."
            )
        elif (known.get("ray"), known.get("python")) == (word["ray"], word["python"]):
            self._say_problem(f"{word['words']} An environment with them was made, and did not fit either.")
        else:
            log.info("'%s': %s", self._name, word["words"])
            self._notes.keep_versions(word["ray"], word["python"])

    def _stumble(self, kind: str, words: str) -> None:
        """A failure that mostly is none at the next try."""
        now = time.monotonic()
        if self._passing_since is None:
            self._passing_since = now
        self._tries += 1
        if now - self._passing_since >= PASSING_S:
            self._failures = max(self._failures, GIVE_UP - 1)
            self._say_problem(f"{words} ({self._tries} tries in {now - self._passing_since:.0f} s.)")
        else:
            log.warning("'%s', try %d: %s", self._name, self._tries, words)
            self.problem = words
        if kind == "stumbled":
            self.away_since = None  # whoever stumbles is there
        elif self.away_since is None:
            self.away_since = now

    def _say_problem(self, words: str) -> None:
        if words != self.problem:
            log.warning("'%s': %s", self._name, words)
        self.problem, self._failures = words, self._failures + 1
        if self.away_since is None:
            self.away_since = time.monotonic()

    def _pause_s(self) -> float:
        if self._tries and not self.has_given_up:
            return PASSING_PAUSES_S[min(self._tries, len(PASSING_PAUSES_S)) - 1]
        return PAUSES_S[min(self._failures, len(PAUSES_S) - 1)]

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _build_log(self, text: bytes) -> None:
        with open(self._log_path, "ab") as f:
            f.write(text)


def _shorten(path: str) -> None:
    if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES:
        os.replace(path, path + ".old")
