"""`rookery logs RUN`: what a run printed, whole, its end, or as it comes."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.find import find_run
from rookery.cli.follow import follow, is_main_log, main_log, read_log
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import note, print_json
from rookery.errors import ArtifactNotFoundError
from rookery.spec.logs import canonical_log_name
from rookery.spec.status import TERMINAL

__all__ = ["logs"]

BLOCK = 1024 * 1024


def logs(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Id, beginning of one, display name, or @last.", autocompletion=complete_run
        ),
    ],
    is_followed: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    name: Annotated[
        Optional[str],
        typer.Option("--name", metavar="LOG", help="Another log than the main one; `rookery show RUN` lists them."),
    ] = None,
    tail: Annotated[Optional[int], typer.Option("--tail", min=0, metavar="N", help="Only the last N lines.")] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints what a run printed."""
    client = session.client()
    found = find_run(client, run)
    sizes = {log["name"]: log["size"] for log in client.request("GET", f"/runs/{found['id']}/logs")["logs"]}
    log = _choose(found, list(sizes), name)
    size = sizes.get(log, 0) if log else 0
    data = _read(client, found["id"], log, size, tail) if log and size else b""
    if session.current().json and not is_followed:
        print_json({"run": found["id"], "name": log, "size": size, "text": data.decode("utf-8", "replace")})
        return
    if data:
        _write(found["id"], log or "", data, size - len(data))
    if is_followed:
        _go_on(client, found["id"], log if name else None, {log: size} if log else {})
    elif not data:
        note(_why_nothing(found, log))


def _go_on(client: Any, run_id: str, only: Optional[str], have: dict[str, int]) -> None:
    position = dict(have)

    def write(log: str, new: bytes) -> None:
        _write(run_id, log, new, position.get(log, 0))
        position[log] = position.get(log, 0) + len(new)

    run = follow(client, run_id, write, shows=(lambda log: log == only) if only else is_main_log, have=have)
    if session.current().json:
        print_json({"event": "end", "run": run_id, "status": run["status"]}, line=True)
    else:
        note(f"{run_id}: {run['status']}")


def _choose(run: dict[str, Any], names: list[str], wanted: Optional[str]) -> Optional[str]:
    """The log meant: either runtime's name, or the end of one after a slash."""
    if wanted is None:
        return main_log(names)
    exact = canonical_log_name(wanted)
    if exact in names:
        return exact
    ends = [n for n in names if n.endswith("/" + wanted) or n.rsplit("/", 1)[-1] == wanted]
    if len(ends) == 1:
        return ends[0]
    if run["status"] not in TERMINAL and not names:
        return exact  # it may still come, with -f
    known = ", ".join(names) or "none yet"
    raise ArtifactNotFoundError(f"Run {run['id']} has no log {wanted!r}. Its logs: {known}.", details={"logs": names})


def _read(client: Any, run_id: str, name: str, size: int, tail: Optional[int]) -> bytes:
    """The log up to `size`, or its last lines, read from the end block by block."""
    if tail is None:
        return read_log(client, run_id, name, 0, size)
    start, data = size, b""
    while tail and start > 0 and data.rstrip(b"\n").count(b"\n") < tail:
        step = min(BLOCK, start)
        start -= step
        data = read_log(client, run_id, name, start, step) + data
    lines = data.splitlines(keepends=True)
    return b"".join(lines[-tail:]) if tail else b""


def _write(run_id: str, name: str, data: bytes, offset: int) -> None:
    if session.current().json:
        print_json(
            {
                "event": "log",
                "run": run_id,
                "name": name,
                "offset": offset,
                "text": data.decode("utf-8", "replace"),
            },
            line=True,
        )
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _why_nothing(run: dict[str, Any], log: Optional[str]) -> str:
    if log:
        return f"{log} is empty."
    if run["status"] in TERMINAL:
        return f"{run['id']} ({run['status']}) has printed nothing."
    because = f": {run['reason']}" if run["reason"] else ""
    state = f"{run['id']} has printed nothing yet. It is {run['status']}{because}."
    return f"{state} Follow it with `rookery logs -f {run['id']}`."
