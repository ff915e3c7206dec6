"""Shows what a run prints: picks the log to show, goes by byte offset, and never loses the last bytes."""

from __future__ import annotations

import base64
import codecs
import io
import re
from typing import Any, Optional

from rookery.errors import NotFoundError
from rookery.sdk.build_output import BuildOutput, write_text
from rookery.spec.logs import BUILD_LOG, canonical_log_name, is_driver_log
from rookery.worker.http import quote_path

__all__ = ["LogPrinter", "best_log", "write_text"]

# Of a tuning and of a pipeline it has no number.
_NUMBERED = re.compile(r"^(?:azureml-logs/(?:(\d+)_[^/]*|hyperdrive)|logs/azureml/executionlogs)\.txt$")
_RANK = re.compile(r"_(?:rank_|worker_)?(\d+)\.txt$")
_PIECE = 1024 * 1024


def best_log(names: Any) -> Optional[str]:
    """The log worth streaming: the highest number, a rank's own before a launcher's, the lowest rank."""
    candidates = [name for name in names if _NUMBERED.match(canonical_log_name(name))]
    return max(candidates, key=_worth, default=None)


def _worth(name: str) -> tuple[int, bool, int]:
    plain = canonical_log_name(name)
    numbered, rank = _NUMBERED.match(plain), _RANK.search(plain)
    return int(numbered.group(1) or 0) if numbered else 0, is_driver_log(plain), -int(rank.group(1)) if rank else 0


class LogPrinter:
    """Prints one log at a time, each under its banner.

    Promises: every byte of the log being shown is printed once and in order, whatever the events' cut; before
    it turns to another log the rest of the current one is printed; neither text that is no UTF-8 nor a
    terminal that shows no Unicode stops it.
    """

    def __init__(self, client: Any, run_id: str, out: Any) -> None:
        self._client, self._run_id, self._out = client, run_id, out
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._known: set[str] = set()
        self._positions: dict[str, int] = {}
        self._at_line_start = True
        self._build: Optional[BuildOutput] = None  # while the build log is shown
        self._phase = ""
        self.current: Optional[str] = None

    def take(self, event_data: dict[str, Any]) -> None:
        """One `log` event."""
        name, offset = event_data["name"], event_data["offset"]
        if name not in self._known:
            self._known.add(name)
            best = best_log(self._known)
            if best is not None and best != self.current:
                self._turn_to(best)
        if name != self.current:
            return
        data = base64.b64decode(event_data["base64"]) if "base64" in event_data else event_data["text"].encode("utf-8")
        position = self._positions[name]
        if offset > position:
            self._fetch(name, offset)
            position = self._positions[name]
        self._print(name, data[position - offset :] if offset <= position else b"")

    def finish(self) -> None:
        """The rest of what is stored, for the log that is shown or, when none was, for the best there is."""
        listed = [log["name"] for log in self._client.request("GET", f"/runs/{quote_path(self._run_id)}/logs")["logs"]]
        best = best_log(listed)
        if best is not None and self.current is None:
            self._turn_to(best)
        if self.current is not None:
            self._fetch(self.current, None)
        self.end_build()
        self._write(self._decoder.decode(b"", True))
        self.line()

    def end_build(self) -> None:
        """The environment is there, or will not be: the bar below the build log goes."""
        if self._build is not None:
            self._build.close()
            self._at_line_start = self._build.at_line_start
            self._build = None

    def line(self, text: Optional[str] = None) -> None:
        """A line of our own, never glued to a line of the run's."""
        if not self._at_line_start:
            self._write("\n")
        if text is not None:
            self._write(text + "\n")

    def phase(self, text: str) -> None:
        """What the run waits for or does; said when it has changed."""
        if text and text != self._phase:
            self._phase = text
            self.line(text)

    def _turn_to(self, name: str) -> None:
        if self.current is not None:
            self._fetch(self.current, None)
            self.end_build()
            self._write(self._decoder.decode(b"", True))
            self._decoder.reset()
        self.current = name
        self._positions.setdefault(name, 0)
        banner = f"Streaming {name}"
        self.line()
        self.line(f"\n{banner}\n{'=' * len(banner)}\n")
        if canonical_log_name(name) == BUILD_LOG:
            self._build = BuildOutput(self._out)

    def _fetch(self, name: str, end: Optional[int]) -> None:
        """Print what is stored from where we are up to `end`, or up to its end."""
        while end is None or self._positions[name] < end:
            piece = io.BytesIO()
            start = self._positions[name]
            length = _PIECE if end is None else min(_PIECE, end - start)
            path = f"/runs/{quote_path(self._run_id)}/logs/{quote_path(name)}"
            try:
                self._client.download(path, piece, query={"offset": start, "length": length})
            except NotFoundError:
                return
            if not piece.tell():
                return
            self._print(name, piece.getvalue())

    def _print(self, name: str, data: bytes) -> None:
        self._positions[name] += len(data)
        if self._build is None:
            self._write(self._decoder.decode(data))
        else:
            self._build.take(data)
            self._at_line_start = self._build.at_line_start

    def _write(self, text: str) -> None:
        if text and self._build is not None:
            self._build.aside(text)
            self._at_line_start = self._build.at_line_start
        elif text:
            write_text(self._out, text)
            self._at_line_start = text.endswith("\n")
