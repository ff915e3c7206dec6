"""`rookery logs RUN`: what a run printed, whole, its end, or as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.find import find_run
from rookery.cli.follow import follow, is_main_log, main_log, read_log
from rookery.cli.rank_logs import Merged, expected_log, log_of_rank, rank_logs, rank_of_log
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import note, print_json
from rookery.errors import ArtifactNotFoundError
from rookery.spec.logs import canonical_log_name, is_driver_log
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
    rank: Annotated[Optional[int], typer.Option("--rank", min=0, metavar="N", help="The log of this rank.")] = None,
    is_merged: Annotated[
        bool, typer.Option("--all", "-a", help="All ranks together, each line under the rank that printed it.")
    ] = False,
    tail: Annotated[Optional[int], typer.Option("--tail", min=0, metavar="N", help="Only the last N lines.")] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Prints what a run printed."""
    if (name is not None) + (rank is not None) + is_merged > 1:
        raise typer.BadParameter("Give only one of --name, --rank and --all.")
    client = session.client()
    found = find_run(client, run)
    sizes = {log["name"]: log["size"] for log in client.request("GET", f"/runs/{found['id']}/logs")["logs"]}
    if is_merged:
        _print_merged(client, found, sizes, tail, is_followed)
        return
    if rank is not None:
        name = log_of_rank(found, list(sizes), rank) or expected_log(found, rank)
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


def _print_merged(
    client: Any, run: dict[str, Any], sizes: dict[str, int], tail: Optional[int], is_followed: bool
) -> None:
    """All ranks' logs; what is there rank by rank, what comes as it comes."""
    names = rank_logs(list(sizes))
    texts = {n: _read(client, run["id"], n, sizes[n], tail) if sizes[n] else b"" for n in names}
    if session.current().json and not is_followed:
        shown = [
            {"name": n, "rank": rank_of_log(n), "size": sizes[n], "text": texts[n].decode("utf-8", "replace")}
            for n in names
        ]
        print_json({"run": run["id"], "logs": shown})
        return
    merged = Merged(names)
    for log in names:
        if session.current().json:
            _write(run["id"], log, texts[log], sizes[log] - len(texts[log]))
        else:
            merged.take(log, texts[log])
    if is_followed:
        take = None if session.current().json else merged.take
        _go_on(client, run["id"], None, {n: sizes[n] for n in names}, is_driver_log, take, merged.close)
        return
    merged.close()
    if not any(texts.values()):
        note(_why_nothing(run, None))


def _go_on(
    client: Any,
    run_id: str,
    only: Optional[str],
    have: dict[str, int],
    shows: Callable[[str], bool] = is_main_log,
    take: Optional[Callable[[str, bytes], None]] = None,
    close: Callable[[], None] = lambda: None,
) -> None:
    position = dict(have)

    def write(log: str, new: bytes) -> None:
        _write(run_id, log, new, position.get(log, 0))
        position[log] = position.get(log, 0) + len(new)

    run = follow(client, run_id, take or write, shows=(lambda log: log == only) if only else shows, have=have)
    close()
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
