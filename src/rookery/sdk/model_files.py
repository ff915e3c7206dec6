"""The bytes of models: which files, uploaded by hash, downloaded, and found on disk."""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING, Any, Optional

from rookery.client import FilePart, upload_content
from rookery.errors import ModelError, ModelNotFoundError, UserError
from rookery.sdk.progress import CountedReader, CountedWriter, Progress
from rookery.spec.names import check_artifact_name
from rookery.worker.http import quote_path

if TYPE_CHECKING:
    from rookery.sdk.workspace import Workspace

__all__ = ["collect_files", "download_model", "find_model_path", "upload_files"]

_CHUNK = 1024 * 1024


def collect_files(model_path: str, child_paths: Optional[list[str]] = None) -> dict[str, str]:
    """Path in the model → path on disk, for a file or for a folder (or those parts of it that `child_paths`
    names).

    A folder keeps its own name: its files are `<folder>/…`, as scoring scripts expect.
    """
    source = os.path.abspath(os.path.expanduser(os.fspath(model_path)))
    if os.path.isfile(source):
        if child_paths:
            raise UserError(f"child_paths names parts of a folder, but model_path {model_path!r} is a file.")
        return {os.path.basename(source): source}
    if not os.path.isdir(source):
        raise ModelError(f"There is no file or folder {model_path!r}. Give model_path relative to {os.getcwd()!r}.")
    files: dict[str, str] = {}
    for child in child_paths or ["."]:
        files.update(_walk(source, child))
    if not files:
        raise ModelError(f"Folder {model_path!r} holds no files: there is nothing to register.")
    return files


def _walk(source: str, child: str) -> dict[str, str]:
    start = os.path.normpath(os.path.join(source, child))
    if os.path.relpath(start, source).split(os.sep)[0] == ".." or os.path.isabs(child):
        raise UserError(f"child_paths: {child!r} is outside of the model's folder.")
    if os.path.isfile(start):
        return {_inside(source, start): start}
    if not os.path.isdir(start):
        raise ModelError(f"child_paths: there is no {child!r} in {source!r}.")
    found = {}
    for folder, folders, names in os.walk(start):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                found[_inside(source, path)] = path
    return found


def _inside(source: str, path: str) -> str:
    return check_artifact_name(os.path.relpath(path, os.path.dirname(source)).replace(os.sep, "/"))


def upload_files(client: Any, files: dict[str, str]) -> list[dict[str, Any]]:
    """Send what the keeper does not have; the entries for POST /models."""
    entries: list[dict[str, Any]] = [
        {"path": name, "sha256": _hash(path), "size": os.path.getsize(path)} for name, path in files.items()
    ]
    hashes = sorted({entry["sha256"] for entry in entries})
    missing = set(client.request("POST", "/content/missing", body={"sha256": hashes})["missing"])
    waiting = {entry["sha256"]: entry for entry in entries if entry["sha256"] in missing}
    with Progress("Uploading model", sum(entry["size"] for entry in waiting.values())) as bar:
        for sha256, entry in waiting.items():
            with open(files[entry["path"]], "rb") as file:
                upload_content(client, sha256, FilePart(CountedReader(file, bar), entry["size"]))  # type: ignore[arg-type]
    return entries


def _hash(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def download_model(client: Any, data: dict[str, Any], target_dir: str, exist_ok: bool) -> str:
    """Fetch all files of a model; the path of its file, or of the folder that holds its files.

    A folder gets the model's own top folder where all its files share one, else a folder named like the
    model. Files
    appear whole: each is written beside its place and moved there, after its hash was checked.
    """
    folder = os.fspath(target_dir)
    top = _top(data)
    result = os.path.join(folder, top)
    if os.path.lexists(result) and not exist_ok:
        raise ModelError(f"{result!r} exists. Give another target_dir, or exist_ok=True to replace it.")
    os.makedirs(folder, exist_ok=True)
    with Progress("Downloading model", sum(file["size"] for file in data["files"])) as bar:
        for file in data["files"]:
            name = check_artifact_name(file["path"])
            inside = name if not data["is_folder"] or name.startswith(top + "/") else f"{top}/{name}"
            _fetch(client, data, file, os.path.join(folder, inside), bar)
    return result


def _top(data: dict[str, Any]) -> str:
    paths = [check_artifact_name(file["path"]) for file in data["files"]]
    if not paths:
        raise ModelError(f"Model '{data['id']}' has no files.")
    if not data["is_folder"]:
        return paths[0]
    heads = {path.partition("/")[0] for path in paths if "/" in path}
    return heads.pop() if len(heads) == 1 and all("/" in path for path in paths) else str(data["name"])


def _fetch(client: Any, data: dict[str, Any], file: dict[str, Any], path: str, bar: Progress) -> None:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    partial = f"{path}.partial-{os.getpid()}"
    try:
        with open(partial, "wb") as target:
            route = f"/models/{quote_path(data['name'])}/{data['version']}/files/{quote_path(file['path'])}"
            client.download(route, CountedWriter(target, bar))
        if _hash(partial) != file["sha256"]:
            raise ModelError(
                f"'{file['path']}' of model '{data['id']}' arrived damaged: "
                "its hash is not the registered one. Try again."
            )
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def find_model_path(model_name: str, version: Optional[int], workspace: Optional[Workspace]) -> str:
    """v1's search: azureml-models/<name>/<version>/ (one entry), then ./<name>, then, inside a run, the
    registry."""
    models = os.path.join(os.environ.get("AML_APP_ROOT", ""), "azureml-models")
    looked = []
    folder = os.path.join(models, model_name)
    if os.path.isdir(folder):
        chosen = str(version) if version is not None else _newest(folder)
        if chosen is not None and os.path.isdir(os.path.join(folder, chosen)):
            entries = os.listdir(os.path.join(folder, chosen))
            if len(entries) == 1:
                return os.path.join(folder, chosen, entries[0])
            raise ModelError(
                f"{os.path.join(folder, chosen)!r} must hold exactly one file or folder, it holds {len(entries)}."
            )
    looked.append(os.path.join(folder, str(version) if version is not None else "<version>"))
    if os.path.exists(os.path.join(".", model_name)):
        return os.path.join(".", model_name)
    looked.append(os.path.join(".", model_name))
    found = workspace if workspace is not None else _workspace_of_run()
    if found is not None:
        from rookery.sdk.model import Model

        model = Model(found, name=model_name, version=version)
        return model.download(os.path.join(folder, str(model.version)), exist_ok=True)
    raise ModelNotFoundError(
        f"Model '{model_name}' is neither at {' nor at '.join(map(repr, looked))}, and this process is not "
        "inside a run. Download it with Model(ws, name).download()."
    )


def _newest(folder: str) -> Optional[str]:
    versions = [name for name in os.listdir(folder) if name.isdigit()]
    return max(versions, key=int, default=None)


def _workspace_of_run() -> Optional[Workspace]:
    from rookery.sdk.context import is_in_run
    from rookery.sdk.run import Run

    return Run.get_context().experiment.workspace if is_in_run() else None
