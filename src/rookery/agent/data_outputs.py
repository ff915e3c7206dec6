"""A run's outputs: folders to write to before its ranks start, and their files to the keeper when they have completed."""

from __future__ import annotations

import fnmatch
import io
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from rookery.errors import DataError, RookeryError
from rookery.spec.data import OutputJob
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.agent.agent import Agent

__all__ = ["make_output_folders", "send_outputs"]

PACK_BYTES = 4 * 1024 * 1024
SMALL_BYTES = 1024 * 1024


def make_output_folders(agent: Agent) -> dict[str, str]:
    """The variables that tell where to write.

    Raises:
        DataError: a folder cannot be made.
    """
    variables: dict[str, str] = {}
    for output in agent.job.data_outputs:
        folder = _folder(agent, output)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise DataError(f"Output '{output.name}': {folder} cannot be made: {error.strerror or error}.") from error
        if output.folder and agent.job.attempt > 1 and not agent.job.node and os.listdir(folder):
            # Not emptied: others may have put files there, and a script may go on with what it wrote.
            agent.warn(
                f"Output '{output.name}' held files already when attempt {agent.job.attempt} began: they stay, and belong "
                "to it."
            )
        variables.update(dict.fromkeys(output.variables, folder))
    return variables


def send_outputs(agent: Agent) -> Optional[str]:
    """Bring back what the ranks wrote. Returns what went wrong: an output is whole, or the run has not completed."""
    for output in agent.job.data_outputs:
        if output.folder:
            continue  # it lies where it is to be
        try:
            _send(agent, output)
        except (OSError, RookeryError) as error:
            words = getattr(error, "strerror", None) or str(error)
            return f"Output '{output.name}' could not be brought back: {words}"
    return None


def _folder(agent: Agent, output: OutputJob) -> str:
    if output.folder:
        return output.folder
    if output.source:
        return os.path.normpath(os.path.join(agent.job.work, output.source))
    return os.path.join(os.path.dirname(agent.job.work), "data-outputs", output.name)


def _send(agent: Agent, output: OutputJob) -> None:
    route = agent.keeper.base + f"outputs/{quote_path(output.name)}"
    pack = io.BytesIO()

    def send() -> None:
        if pack.tell():
            agent.keeper.request("POST", route, body=pack.getvalue())
            pack.seek(0)
            pack.truncate()

    for path, full in _files(_folder(agent, output), output):
        size = 0 if path.endswith("/") else os.path.getsize(full)
        if size > SMALL_BYTES:
            agent.keeper.upload(f"{route}/files/{quote_path(path)}", full, "")
            continue
        data = b""
        if not path.endswith("/"):
            with open(full, "rb") as file:
                data = file.read()
        pack.write(json.dumps({"path": path, "size": len(data)}).encode("ascii") + b"\n" + data)
        if pack.tell() >= PACK_BYTES:
            send()
    send()


def _files(folder: str, output: OutputJob) -> Iterator[tuple[str, str]]:
    real = os.path.realpath(folder)
    for here, folders, names in os.walk(folder):
        folders.sort()
        relative = os.path.relpath(here, folder).replace(os.sep, "/")
        prefix = "" if relative == "." else relative + "/"
        if prefix and not folders and not names and not output.globs:
            yield check_artifact_name(relative) + "/", here
        for name in sorted(names):
            full, path = os.path.join(here, name), prefix + name
            if output.globs and not any(fnmatch.fnmatch(path, glob) for glob in output.globs):
                continue
            target = os.path.realpath(full)
            if not os.path.isfile(target) or not target.startswith(real + os.sep):
                raise DataError(f"'{path}' is a link out of the output's folder, or no file.")
            if "\\" in name:
                raise DataError(f"'{path}' has a backslash in its name.")
            yield check_artifact_name(path), full
