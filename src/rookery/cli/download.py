"""`rookery download RUN [PATH…]`: a run's artifacts (or logs, by name) into a folder."""

from __future__ import annotations

import fnmatch
import os
from typing import Annotated, Any, Optional

import typer

from rookery.cli import session
from rookery.cli.complete import complete_run
from rookery.cli.fetch import fetch
from rookery.cli.find import find_run
from rookery.cli.session import AsJson, InWorkspace
from rookery.cli.terminal import clean, next_step, note, print_json, say
from rookery.cli.words import size
from rookery.errors import ArtifactNotFoundError
from rookery.spec.logs import canonical_log_name
from rookery.worker.http import quote_path

__all__ = ["download"]


def download(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Id, beginning of one, display name, or @last.", autocompletion=complete_run
        ),
    ],
    paths: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="PATH",
            help="Files, folders or patterns such as 'outputs/*.pt'. Default: all artifacts.",
        ),
    ] = None,
    to: Annotated[
        Optional[str],
        typer.Option("--to", metavar="DIR", help="Where to. Default: a folder with the run's id."),
    ] = None,
    json: AsJson = False,
    workspace: InWorkspace = None,
) -> None:
    """Downloads what a run has left, below the same names."""
    client = session.client()
    found = find_run(client, run)
    artifacts = client.request("GET", f"/runs/{found['id']}/artifacts")["artifacts"]
    logs = client.request("GET", f"/runs/{found['id']}/logs")["logs"]
    chosen = _choose(found, artifacts, logs, paths)
    folder = os.path.abspath(os.path.expanduser(to or found["id"]))
    written = []
    for file in chosen:
        target = fetch(client, f"/runs/{found['id']}/artifacts/{quote_path(file['name'])}", folder, file)
        written.append({"name": file["name"], "path": target, "size": file["size"]})
        if not session.current().json:
            say(f"{clean(file['name'])}  {size(file['size'])}")
    if session.current().json:
        print_json({"run": found["id"], "folder": folder, "files": written})
        return
    if not written:
        note(f"{found['id']} has left no artifacts. Its logs: `rookery logs {found['id']}`.")
        return
    say(
        f"{len(written)} file{'s' if len(written) > 1 else ''}, "
        f"{size(sum(f['size'] for f in chosen))}, in {clean(folder)}"
    )
    next_step(f"rookery models register NAME --run {found['id']} --path {clean(chosen[0]['name'])}")


def _choose(
    run: dict[str, Any],
    artifacts: list[dict[str, Any]],
    logs: list[dict[str, Any]],
    paths: Optional[list[str]],
) -> list[dict[str, Any]]:
    if not paths:
        return artifacts
    # A log is taken only when it is asked for, and only where no artifact has that name.
    files = {f["name"]: f for f in [*logs, *artifacts]}
    chosen: dict[str, dict[str, Any]] = {}
    for path in paths:
        plain = canonical_log_name(os.path.normpath(path).replace(os.sep, "/").lstrip("/"))
        meant = [
            n for n in files if plain == "." or n == plain or n.startswith(plain + "/") or fnmatch.fnmatchcase(n, plain)
        ]
        if not meant:
            known = ", ".join(sorted(files)[:10]) or "none"
            more = f" and {len(files) - 10} more" if len(files) > 10 else ""
            raise ArtifactNotFoundError(
                f"Run {run['id']} has nothing at {path!r}. It has: {known}{more}.", details={"path": path}
            )
        chosen.update((n, files[n]) for n in meant)
    return list(chosen.values())
