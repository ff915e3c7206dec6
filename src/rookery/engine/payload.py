"""The payload: what is put on the path of user processes, as a folder named after the hash of its contents.

`first/` goes first on PYTHONPATH and holds only sitecustomize and the modules it needs; `offered/`
holds packages that the offer finder gives to processes which do not have them. Built once, atomically; old
ones stay for
the runs that use them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading

import rookery
from rookery.errors import StorageError
from rookery.spec.paths import WorkspacePaths

__all__ = ["ensure_payload"]

OFFERED_MODULES = ("__init__.py", "errors.py", "settings.py")
OFFERED_PACKAGES = ("spec", "worker", "client", "submit", "sdk", "azureml")
FIRST_MODULES = ("recorder", "launched", "offer", "torchvision_hook")

_lock = threading.Lock()
_known: dict[tuple[tuple[str, int, int], ...], str] = {}  # what the files looked like -> hash of their contents


def ensure_payload(paths: WorkspacePaths) -> str:
    """The folder `<workspace>/payload/<hash>` with `first` and `offered` in it, built if it is not there yet.

    Raises:
        StorageError: the workspace's folder cannot be written.
    """
    sources = _sources()
    folder = os.path.join(paths.payloads, _hash(sources))
    if not os.path.isdir(folder):
        try:
            _build(sources, folder)
        except OSError as error:
            raise StorageError(f"The payload cannot be written to {paths.payloads}: {error}.") from error
    return folder


def _sources() -> dict[str, str]:
    """{path in the payload: file}, sorted."""
    package = os.path.dirname(os.path.abspath(rookery.__file__))
    worker = os.path.join(package, "worker")
    found = {"first/sitecustomize.py": os.path.join(worker, "first", "sitecustomize.py")}
    for name in FIRST_MODULES:
        found[f"first/_rookery_{name}.py"] = os.path.join(worker, name + ".py")
    found.update(_files(os.path.join(package, "serve", "host"), "first/_rookery_scoring"))
    for name in OFFERED_MODULES:
        if os.path.isfile(os.path.join(package, name)):
            found["offered/rookery/" + name] = os.path.join(package, name)
    for name in OFFERED_PACKAGES:
        found.update(_files(os.path.join(package, name), "offered/rookery/" + name))
    for name in ("rookery_vision", "rookery_tabular"):  # beside us, in a checkout and where installed
        beside = os.path.join(os.path.dirname(package), name)
        if os.path.isdir(beside):
            found.update(_files(beside, "offered/" + name))
    for name in ("azureml", "horovod", "inference_schema"):
        found.update(_files(_shim(package, name), "offered/" + name))
    return dict(sorted(found.items()))


def _shim(package: str, name: str) -> str:
    """A top-level shim: in the wheel below the package, in a checkout beside src."""
    packed = os.path.join(package, "_shims", name)
    if os.path.isdir(packed):
        return packed
    return os.path.join(os.path.dirname(os.path.dirname(package)), "shims", name)


def _files(folder: str, name: str) -> dict[str, str]:
    found = {}
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for file in files:
            if not file.endswith((".pyc", ".pyo")) and file != "py.typed":
                full = os.path.join(here, file)
                found[name + "/" + os.path.relpath(full, folder).replace(os.sep, "/")] = full
    return found


def _hash(sources: dict[str, str]) -> str:
    look = []
    for name, file in sources.items():
        stat = os.stat(file)
        look.append((name, stat.st_mtime_ns, stat.st_size))
    key = tuple(look)
    with _lock:
        if key not in _known:
            _known[key] = _hash_contents(sources)
        return _known[key]


def _hash_contents(sources: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, file in sources.items():
        with open(file, "rb") as f:
            data = f.read()
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()[:24]


def _build(sources: dict[str, str], folder: str) -> None:
    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    partial = tempfile.mkdtemp(prefix=".building-", dir=parent)
    try:
        for name, file in sources.items():
            target = os.path.join(partial, *name.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(file, target)
        os.chmod(partial, 0o755)
        os.rename(partial, folder)
    except OSError:
        if not os.path.isdir(folder):  # otherwise another process was quicker, with the same contents
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
