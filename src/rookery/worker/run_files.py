"""Files of a run: uploading, listing, downloading."""

import binascii
import io
import os

from rookery.errors import ArtifactNotFoundError, StorageError, UserError
from rookery.worker.artifact_names import check_artifact_name
from rookery.worker.copying import copy_file
from rookery.worker.http import quote_path
from rookery.worker.run_base import RunBase

__all__ = ["FilesPart"]


class FilesPart(RunBase):
    def upload_file(self, name, path_or_stream, datastore_name=None):
        """Store a file, or the bytes of a binary stream, under `name`. In a run it is handed over and
        shipped meanwhile."""
        name = check_artifact_name(name)
        if self._uploads_folder():
            self._hand_over(name, path_or_stream)
        else:
            self._put(name, path_or_stream)

    def upload_folder(self, name, path, datastore_name=None):
        """Store every file below the folder `path` under `name`/…"""
        if not os.path.isdir(path):
            raise UserError("upload_folder: {!r} is not a folder.".format(path))
        prefix = check_artifact_name(name) if name not in ("", ".", "./") else ""
        for folder, folders, files in os.walk(path):
            folders.sort()
            for file in sorted(files):
                full = os.path.join(folder, file)
                relative = os.path.relpath(full, path).replace(os.sep, "/")
                self.upload_file(prefix + "/" + relative if prefix else relative, full)

    def upload_files(self, names, paths, return_artifacts=False, timeout_seconds=None, datastore_name=None):
        """Store several files; `names` and `paths` go together."""
        names, paths = list(names), list(paths)
        if len(names) != len(paths):
            raise TypeError(
                "upload_files: {} names but {} paths. Give one path for each name.".format(len(names), len(paths))
            )
        for name, path in zip(names, paths):
            self.upload_file(name, path)

    def get_file_names(self):
        """Names of everything stored with the run, logs included."""
        self._drain()
        return self._file_names()

    def download_file(self, name, output_file_path=None, _validate_checksum=False):
        """Fetch one file; to its base name in the current folder unless told otherwise."""
        self._drain()
        name = check_artifact_name(name)
        base = os.path.basename(name)
        target = output_file_path or base
        if os.path.isdir(target) or target.endswith(("/", os.sep)):
            target = os.path.join(target, base)
        self._fetch(name, target)

    def download_files(
        self,
        prefix=None,
        output_directory=None,
        output_paths=None,
        batch_size=100,
        append_prefix=True,
        timeout_seconds=None,
    ):
        """Fetch every file whose name begins with `prefix`."""
        self._drain()
        names = [n for n in self._file_names() if not prefix or n.startswith(prefix)]
        if prefix and not names:
            raise UserError(
                "No file of run {} begins with {!r}. Known: {}.".format(self.id, prefix, _shown(self._file_names()))
            )
        if output_paths is not None:
            output_paths = list(output_paths)
            if len(output_paths) != len(names):
                raise UserError("download_files: {} output_paths for {} files.".format(len(output_paths), len(names)))
            targets = [os.path.join(output_directory, p) if output_directory else p for p in output_paths]
        else:
            targets = [os.path.join(output_directory or ".", _local_name(n, prefix, append_prefix)) for n in names]
        for name, target in zip(names, targets):
            self._fetch(name, target)

    def _file_names(self):
        artifacts = [a["name"] for a in self._ask(path="/artifacts")["artifacts"]]
        logs = [entry["name"] for entry in self._ask(path="/logs")["logs"]]
        return sorted(set(artifacts) | set(logs))

    def _artifact_bytes(self, run_id, name):
        stream = io.BytesIO()
        self._client.download("/runs/{}/artifacts/{}".format(quote_path(run_id), quote_path(name)), stream)
        return stream.getvalue()

    def _fetch(self, name, target):
        folder = os.path.dirname(os.path.abspath(target))
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)
        partial = "{}.part-{}".format(target, os.getpid())
        try:
            with open(partial, "wb") as f:
                self._client.download("/runs/{}/artifacts/{}".format(quote_path(self.id), quote_path(name)), f)
            os.replace(partial, target)
        except ArtifactNotFoundError:
            known = _shown(self._file_names())
            text = "Run {} has no file {!r}. Known: {}.".format(self.id, name, known)
            raise ArtifactNotFoundError(text) from None
        finally:
            if os.path.exists(partial):
                os.unlink(partial)

    def _uploads_folder(self):
        return getattr(self._sink, "uploads", None)

    def _hand_over(self, name, path_or_stream):
        # Always a copy: a hard link would follow what the script writes into the file afterwards.
        folder = self._uploads_folder()
        token = "{}-{}".format(os.getpid(), binascii.hexlify(os.urandom(8)).decode("ascii"))
        target = os.path.join(folder, token)
        try:
            os.makedirs(folder, exist_ok=True)  # several processes hand something over at once
            if _is_path(path_or_stream):
                copy_file(_checked_file(path_or_stream), target)
            else:
                with open(target, "xb") as f:
                    for chunk in _chunks(path_or_stream):
                        f.write(chunk)
        except OSError as error:
            if os.path.exists(target):
                os.unlink(target)
            raise StorageError(
                "{!r} could not be handed over for upload: {}. Is the disk full?".format(name, error)
            ) from error
        self._sink.append(["u", None, name, token])

    def _put(self, name, path_or_stream):
        route = "/runs/{}/artifacts/{}".format(quote_path(self.id), quote_path(name))
        if _is_path(path_or_stream):
            with open(_checked_file(path_or_stream), "rb") as f:
                self._client.upload(route, f)
        elif _seekable(path_or_stream):
            self._client.upload(route, path_or_stream)
        else:
            self._client.upload(route, b"".join(_chunks(path_or_stream)))


def _is_path(value):
    return isinstance(value, (str, bytes)) or hasattr(value, "__fspath__")


def _checked_file(path):
    path = os.fspath(path)
    if os.path.isdir(path):
        raise UserError("upload_file: {!r} is a folder. Use upload_folder.".format(path))
    if not os.path.isfile(path):
        raise UserError("upload_file: there is no file {!r} (current folder: {}).".format(path, os.getcwd()))
    return path


def _seekable(stream):
    try:
        return stream.seekable() and isinstance(stream.read(0), bytes)
    except Exception:
        return False


def _chunks(stream):
    if not hasattr(stream, "read"):
        raise UserError("upload_file takes a path or a stream, not {}.".format(type(stream).__name__))
    while True:
        chunk = stream.read(1024 * 1024)
        if not chunk:
            return
        yield chunk.encode("utf-8") if isinstance(chunk, str) else chunk


def _local_name(name, prefix, append_prefix):
    if append_prefix or not prefix:
        return name
    if name == prefix:
        return os.path.basename(name)
    rest = name[len(prefix) :] if prefix.endswith("/") or name[len(prefix)] == "/" else name[prefix.rfind("/") + 1 :]
    return rest.lstrip("/")


def _shown(names, limit=20):
    if not names:
        return "none"
    return ", ".join(names[:limit]) + (" and {} more".format(len(names) - limit) if len(names) > limit else "")
