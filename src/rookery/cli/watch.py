"""Watching a run just submitted: its output on stdout, what becomes of it on stderr, then the exit code."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any, Optional

from rookery.cli import session
from rookery.cli.follow import follow
from rookery.cli.page import run_page
from rookery.cli.show import cause_block
from rookery.cli.terminal import clean, is_terminal, next_step, note, paint, print_json
from rookery.cli.words import between
from rookery.spec.logs import BUILD_LOG

__all__ = ["exit_code", "watch"]

INTERRUPTED = 128 + signal.SIGINT
PATIENCE_S = 0.7  # a phase that is over sooner is not worth a line
# Passed through in a moment, or told by the output itself.
_UNSAID = ("NotStarted", "Starting", "Running", "Finalizing", "Completed", "Failed", "Canceled")


def watch(client: Any, run: dict[str, Any]) -> int:
    """Follows the run to its end and returns the exit code for it."""
    run_id = run["id"]
    as_json = session.current().json
    if as_json:
        print_json({"event": "submitted", "run": run}, line=True)
    else:
        page = run_page(client, run_id)
        note(f"Run {run_id}" + (f"  {page}" if page else ""))
    printer = _Printer(run_id)
    try:
        ended = follow(client, run_id, printer.log, printer.status)
    except KeyboardInterrupt:
        printer.forget()
        printer.end_build()
        _say_it_goes_on(run_id)
        return INTERRUPTED
    finally:
        printer.end_build()
    code = exit_code(ended)
    if as_json:
        print_json({"event": "end", "run": ended, "exit_code": code}, line=True)
        return code
    printer.forget()
    printer.finish()
    _say_how_it_ended(ended)
    return code


def exit_code(run: dict[str, Any]) -> int:
    """0 for Completed; for Failed the exit code of the rank that failed, or as shells have it 128 and the number of the
    signal that ended it; else 1."""
    if run["status"] == "Completed":
        return 0
    error = (run["error"] or {}) if run["status"] == "Failed" else {}
    code = error.get("exit_code")
    if isinstance(code, int) and 0 < code < 256:
        return code
    number = getattr(signal, str(error.get("signal")), None)
    return 128 + int(number) if isinstance(number, signal.Signals) else 1


class _Printer:
    """Shows log bytes as they are and, between them, what the run waits for when that takes a while."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._said = ""
        self._at_line_start = True
        self._lock = threading.Lock()
        self._timer: Optional[threading.Timer] = None
        self._build: Any = None  # while the environment's build log is shown

    def log(self, name: str, data: bytes) -> None:
        if session.current().json:
            text = data.decode("utf-8", "replace")
            print_json({"event": "log", "run": self._run_id, "name": name, "text": text}, line=True)
            return
        if name == BUILD_LOG:
            self._log_of_build(data)
            return
        self.end_build()
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            self._at_line_start = data.endswith(b"\n")

    def status(self, data: dict[str, Any]) -> None:
        if session.current().json:
            print_json({"event": "status", **data}, line=True)
            return
        self.forget()
        if data["status"] not in ("Starting", "Preparing"):
            self.end_build()
        text = data["status"] + (f": {clean(data['reason'])}" if data.get("reason") else "")
        if data["status"] in _UNSAID or text == self._said:
            return
        self._timer = threading.Timer(PATIENCE_S, self._say, [text])
        self._timer.daemon = True
        self._timer.start()

    def _log_of_build(self, data: bytes) -> None:
        """To stderr, with a bar on a terminal: stdout is the script's, whether its environment was there or not."""
        from rookery.sdk.build_output import BuildOutput

        with self._lock:
            if self._build is None:
                self._build = BuildOutput(sys.stderr)
            self._build.take(data)

    def end_build(self) -> None:
        with self._lock:
            build, self._build = self._build, None
        if build is not None:
            build.close()

    def forget(self) -> None:
        """Drops a line that was about to be said: the run has moved on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def finish(self) -> None:
        """Ends a line that the script left open, so that ours does not stick to it."""
        if not self._at_line_start and is_terminal():
            sys.stdout.buffer.write(b"\n")
            sys.stdout.buffer.flush()
            self._at_line_start = True

    def _say(self, text: str) -> None:
        with self._lock:
            self._said = text
            self.finish()
            if self._build is not None:
                self._build.aside(text + "\n")
            else:
                note(text)


def _say_how_it_ended(run: dict[str, Any]) -> None:
    took = between(run["started_utc"], run["ended_utc"])
    line = f"{run['status']}{f' after {took}' if took else ''}"
    for warning in run["warnings"]:
        note(f"warning: {clean(warning)}")
    if run["status"] == "Completed":
        note(line)
        next_step(f"rookery show {run['id']}")
        return
    if run["status"] == "Failed":
        head = (
            paint("error:", "red", "bold", stream=sys.stderr)
            + " "
            + paint(f"Run {run['id']} failed", "red", stream=sys.stderr)
        )
        print(f"{head}{f' after {took}' if took else ''}\n{cause_block(run)}", file=sys.stderr, flush=True)
    else:
        note(f"{line}. It was stopped because somebody asked.")
    next_step(f"rookery logs {run['id']}" if run["status"] == "Failed" else f"rookery show {run['id']}")


def _say_it_goes_on(run_id: str) -> None:
    text = f"The run goes on. Stop it with `rookery stop {run_id}`, follow it with `rookery logs -f {run_id}`."
    if session.current().json:
        print_json({"event": "interrupted", "run": run_id, "message": text}, line=True)
    else:
        # A new line first: the terminal shows ^C in the one that was being printed.
        print("\n" + paint(text, "yellow", stream=sys.stderr), file=sys.stderr, flush=True)
