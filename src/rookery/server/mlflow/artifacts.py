"""Artifacts through the proxy: list, up, down, delete. Bodies are streamed to the content store and never held in memory."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from rookery.server.answers import raw_answer
from rookery.server.errors import ForbiddenError
from rookery.server.mlflow.call import Call
from rookery.server.mlflow.convert import Artifacts
from rookery.server.mlflow.errors import MlflowError, missing
from rookery.server.mlflow.places import Place, place_of
from rookery.server.mlflow.runs import find_run
from rookery.server.uploads import receive_content

__all__ = ["delete", "download", "list_folder", "list_of_run", "no_multipart", "no_presigned", "shown_files", "upload"]


def list_folder(call: Call) -> dict[str, Any]:
    """The files of one folder by their last name; of a file, none: that is how a client tells them apart."""
    place = place_of(call.record, call.text("path", ""))
    return _listing(place.files(call.record), place.inner, "")


def list_of_run(call: Call) -> dict[str, Any]:
    """The same for a run, with whole paths."""
    run = find_run(call, call.run_id())
    inner = call.text("path", "").strip("/")
    place = place_of(call.record, f"{run['experiment_id']}/{run['id']}/artifacts/{inner}")
    shown = _listing(place.files(call.record), place.inner, place.inner + "/" if place.inner else "")
    return {"root_uri": f"{Artifacts.root}/{run['experiment_id']}/{run['id']}/artifacts", **shown}


def download(call: Call) -> Response:
    place = place_of(call.record, call.path["path"])
    found = place.find(call.record)
    if found is None:
        raise missing(f"No such artifact: '{place.path:.300}'")
    content = call.record.content
    return raw_answer(
        lambda: content.open(found["sha256"]),
        found["size"],
        call.request.headers.get("range"),
        {"ETag": f'"{found["sha256"]}"'},
    )


async def upload(call: Call) -> Response:
    place = await run_in_threadpool(place_of, call.record, call.path["path"])
    await run_in_threadpool(check_writable, call, place)
    sha256, _ = await receive_content(call.request, call.record.content, None)
    await run_in_threadpool(place.link, call.record, sha256)
    return Response("{}", media_type="application/json")


def delete(call: Call) -> dict[str, Any]:
    place = place_of(call.record, call.path["path"])
    if not place.delete(call.record):
        raise missing(f"No such artifact: '{place.path:.300}'")
    return {}


def no_multipart(call: Call) -> dict[str, Any]:
    """The client then sends the file in one piece, which is streamed to the store whatever its size. It knows this answer by
    the first words of its message."""
    raise MlflowError(
        "NOT_IMPLEMENTED",
        "Multipart upload is not supported for the current artifact repository: send the file with one PUT, which is streamed.",
    )


def no_presigned(call: Call) -> dict[str, Any]:
    raise MlflowError("NOT_IMPLEMENTED", "There are no presigned addresses here: artifacts go through this server.")


def check_writable(call: Call, place: Place) -> None:
    """A run's token writes to that run, to models it has logged, and to traces."""
    if call.principal.run_id is None or place.is_trace:
        return
    if place.run_id is not None:
        call.check_run(place.run_id)
    elif place.logged_model is not None:
        call.check_run(call.record.logged_models.get(place.logged_model)["run_id"])
    else:
        raise ForbiddenError(f"The token of {call.principal} does not allow writing to {place.path!r:.200}.")


def shown_files(files: list[dict[str, Any]], folder: str, prefix: str) -> list[dict[str, Any]]:
    """What lies directly in a folder."""
    start = len(folder) + 1 if folder else 0
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        if file["name"] == folder:
            continue
        name, slash, _ = file["name"][start:].partition("/")
        if slash:
            found.setdefault(name, {"path": prefix + name, "is_dir": True})
        else:
            found[name] = {"path": prefix + name, "is_dir": False, "file_size": file["size"]}
    return [found[name] for name in sorted(found)]


def _listing(files: list[dict[str, Any]], folder: str, prefix: str) -> dict[str, Any]:
    shown = shown_files(files, folder, prefix)
    return {"files": shown} if shown else {}
