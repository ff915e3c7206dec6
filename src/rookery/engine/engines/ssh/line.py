"""The connection to one machine: one `ssh` that runs the hand there, made again whenever it is lost."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from rookery.engine.engines.ssh import hand
from rookery.engine.engines.ssh.words import Refusal, explain
from rookery.errors import ComputeError

__all__ = ["Line", "Machine"]

PING_S = 5.0
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SAID_BYTES = 8000
# The first line that it reads is the program. Older Pythons are told apart before any of it is parsed.
_BOOTSTRAP = "import sys; exec(sys.stdin.readline())"
_FIRST = (
    "sys.exit('python-too-old %d.%d' % sys.version_info[:2]) if sys.version_info < (3, 9) else "
    "(exec({program}), Hand({settings}).serve())"
)


@dataclass(frozen=True)
class Machine:
    """One machine of a target and how it is reached."""

    name: str  # as it is shown: the address, with its port where that is not 22
    host: str
    port: int
    command: tuple[str, ...]  # ssh with all options, up to the machine; the remote command follows
    known_hosts: str
    python: str
    home: str
    variables: tuple[tuple[str, str], ...] = ()  # for ssh itself: how it asks for a password


class Line:
    """Connects, stays connected, asks and listens.

    `on_hello(facts)`, `on_event(event)`, `on_lost(refusal)` are called in this line's thread; `on_lost` after every
    failed attempt too. `ask` may be used from any thread but that one.
    """

    def __init__(
        self,
        machine: Machine,
        on_hello: Callable[[dict[str, Any]], None],
        on_event: Callable[[dict[str, Any]], None],
        on_lost: Callable[[Refusal], None],
    ) -> None:
        self.machine = machine
        self.facts: Optional[dict[str, Any]] = None  # of the latest hello
        self.trouble: Optional[Refusal] = None  # why there is no connection; None while connected or not yet tried
        self.lost_at: Optional[float] = time.monotonic()  # None while connected
        self.attempts = 0
        self.connection = 0  # counts them
        self._on_hello, self._on_event, self._on_lost = on_hello, on_event, on_lost
        self._lock = threading.Condition()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._outgoing: Optional[queue.SimpleQueue[Optional[bytes]]] = None  # of this connection; None: hang up
        self._answers: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._ids = itertools.count(1)
        self._pong = 0.0
        self._stopping = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"rookery-ssh-{machine.name}", daemon=True)
        self._pinger = threading.Thread(target=self._ping, name=f"rookery-ssh-ping-{machine.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._pinger.start()

    def stop(self) -> None:
        """Hang up. Returns when no callback is under way (unless called from one)."""
        with self._lock:
            self._stopping = True
            process = self._process
            self._lock.notify_all()
        self._wake.set()
        if process is not None:
            _end(process)
        for thread in (self._thread, self._pinger):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join()

    @property
    def is_up(self) -> bool:
        return self.lost_at is None

    def try_now(self) -> None:
        """Do not wait for the next attempt."""
        self._wake.set()

    def wait_tried(self, timeout_s: float, anew: bool = False) -> bool:
        """Wait until it is connected or an attempt has failed; whether it is connected. `anew`: what failed before this
        call does not count."""
        with self._lock:
            before = self.attempts if anew else 0
            if anew and not self.is_up:
                self._wake.set()
            self._lock.wait_for(lambda: self.is_up or self.attempts > before or self._stopping, timeout_s)
            return self.is_up

    def send(self, do: str, answered: Callable[[dict[str, Any]], None], **details: Any) -> bool:
        """Send a command; its answer comes in this line's thread. False: not connected. `answered` gets
        {"lost": True} when the connection ends first."""
        with self._lock:
            if self._outgoing is None or not self.is_up:
                return False
            number = next(self._ids)
            self._answers[number] = answered
            self._outgoing.put(json.dumps({"id": number, "do": do, "with": details}).encode() + b"\n")
            return True

    def ask(self, do: str, timeout_s: float, **details: Any) -> dict[str, Any]:
        """Send a command and wait for its answer.

        Raises:
            ComputeError: there is no connection, it was lost, or the machine could not do it; says why.
        """
        came, answer = threading.Event(), {}

        def answered(data: dict[str, Any]) -> None:
            answer.update(data)
            came.set()

        if not self.send(do, answered, **details):
            words = self.trouble.words if self.trouble else f"There is no connection to {self.machine.name} yet."
            raise ComputeError(words)
        if not came.wait(timeout_s):
            raise ComputeError(f"{self.machine.name} did not answer within {timeout_s:g} s.")
        if answer.get("lost"):
            raise ComputeError(f"The connection to {self.machine.name} was lost.")
        if answer.get("error"):
            raise ComputeError(f"{self.machine.name}: {answer['error']}.")
        return answer

    # -- its threads

    def _run(self) -> None:
        failures = 0
        while not self._stopping:
            self._wake.clear()
            was_up = self._connect()
            if self._stopping:
                return
            failures = 0 if was_up else failures + 1
            self._wake.wait(PAUSES_S[min(failures, len(PAUSES_S) - 1)])

    def _connect(self) -> bool:
        """One connection from beginning to end; whether it ever stood."""
        remote = f"{_quote(self.machine.python)} -I -c {shlex.quote(_BOOTSTRAP)}"
        command = [*self.machine.command, remote]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **dict(self.machine.variables)},
                start_new_session=True,
            )
        except OSError as error:
            words = f"The program {command[0]} cannot be started: {error.strerror}. Install OpenSSH's client here."
            self._lost(Refusal(words, is_final=True))
            return False
        outgoing: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        outgoing.put(_first_line(self.machine.home))
        with self._lock:
            self._process, self._outgoing = process, outgoing
        if self._stopping:
            _end(process)
        said: list[bytes] = []
        beside = [
            # Writing may stand still for as long as the network does; nobody who sends shall wait for that.
            threading.Thread(target=_write, args=(process.stdin, outgoing), daemon=True),
            threading.Thread(target=_collect, args=(process.stderr, said), daemon=True),
        ]
        for thread in beside:
            thread.start()
        was_up = False
        try:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    if line.startswith(hand.MARK.encode()):
                        was_up |= self._heard(json.loads(line[len(hand.MARK) :]))
        finally:
            if was_up or self._stopping:
                _end(process)
            code = process.wait()
            outgoing.put(None)
            for thread in beside:
                thread.join()
            with self._lock:
                self._process = self._outgoing = None
                answers, self._answers = list(self._answers.values()), {}
            for answered in answers:
                answered({"lost": True})
        if not self._stopping:
            self._lost(self._explain(b"".join(said).decode(errors="replace"), code, was_up))
        return was_up

    def _heard(self, data: dict[str, Any]) -> bool:
        self._pong = time.monotonic()
        if "id" in data:
            with self._lock:
                answered = self._answers.pop(data["id"], None)
            if answered:
                answered(data)
        elif data["event"] == "hello":
            with self._lock:
                self.facts, self.trouble, self.lost_at = data["facts"], None, None
                self.connection += 1
                self._lock.notify_all()
            self._on_hello(data["facts"])
            return True
        else:
            self._on_event(data)
        return False

    def _lost(self, refusal: Refusal) -> None:
        with self._lock:
            self.trouble = refusal
            self.attempts += 1
            if self.lost_at is None:
                self.lost_at = time.monotonic()
            self._lock.notify_all()
        self._on_lost(refusal)

    def _explain(self, said: str, code: int, was_up: bool) -> Refusal:
        machine = self.machine
        if "python-too-old" in said:
            version = said.split("python-too-old", 1)[1].split()[0]
            return Refusal(
                f"{machine.python} on {machine.name} is Python {version}; agents need 3.9 or newer. Name another with "
                "reach.python.",
                is_final=True,
            )
        if was_up and not said.strip():
            return Refusal(f"The connection to {machine.name} was lost.")
        refusal = explain(said, machine.name, machine.host, machine.port, machine.known_hosts, machine.python, code)
        return Refusal(refusal.words) if was_up else refusal

    def _ping(self) -> None:
        """Notices a connection that is there in name only. ssh does that too, but not through every jump host."""
        while not self._stopping:
            with self._lock:
                self._lock.wait_for(lambda: self._stopping, PING_S)
                process, silent_s = self._process, time.monotonic() - self._pong
            if self.is_up and process is not None:
                if silent_s > 4 * PING_S:
                    _end(process)
                else:
                    self.send("ping", lambda data: None)


def _first_line(home: str) -> bytes:
    with open(hand.__file__, encoding="utf-8") as f:
        program = f.read()
    return _FIRST.format(program=ascii(program), settings=ascii({"home": home})).encode("ascii") + b"\n"


def _quote(python: str) -> str:
    """For the login shell; a leading ~/ is left for it to expand."""
    return "~/" + shlex.quote(python[2:]) if python.startswith("~/") else shlex.quote(python)


def _write(stream: Any, outgoing: queue.SimpleQueue[Optional[bytes]]) -> None:
    is_broken = False
    while (data := outgoing.get()) is not None:
        try:
            if not is_broken:
                stream.write(data)
                stream.flush()
        except OSError:  # the reader sees the end of the connection and says so
            is_broken = True
    with contextlib.suppress(OSError):
        stream.close()


def _collect(stream: Any, said: list[bytes]) -> None:
    size = 0
    with stream:
        while chunk := stream.read1(4096):
            said.append(chunk)
            size += len(chunk)
            while size > SAID_BYTES and len(said) > 1:
                size -= len(said.pop(0))


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
