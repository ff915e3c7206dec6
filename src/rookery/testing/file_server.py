"""A web server on loopback that shows a folder, and misbehaves when it is told to."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["FileServer", "file_server"]


class FileServer:
    """Args: folder: what it shows. `cut_next(n, after)` breaks the next n GETs of files off after so many bytes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.cuts = 0
        self.cut_after = 0
        self.has_ranges = True
        self.needs: dict[str, str] = {}  # headers without which it answers 401
        self.seen: list[tuple[str, str]] = []  # (method, path) of requests
        handler = functools.partial(_Handler, self, directory=folder)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def cut_next(self, count: int, after: int = 1000) -> None:
        self.cuts, self.cut_after = count, after

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, owner: FileServer, *args: Any, **kwargs: Any) -> None:
        self._owner = owner
        super().__init__(*args, **kwargs)

    def send_head(self) -> Any:
        self._owner.seen.append((self.command, self.path))
        if any(self.headers.get(name) != value for name, value in self._owner.needs.items()):
            self.send_error(401)
            return None
        wanted = self.headers.get("Range", "")
        path = self.translate_path(self.path)
        if not (self._owner.has_ranges and wanted.startswith("bytes=") and os.path.isfile(path)):
            return super().send_head()
        size, start = os.path.getsize(path), int(wanted[6:].split("-")[0])
        file = open(path, "rb")  # noqa: SIM115
        file.seek(start)
        self.send_response(206)
        self.send_header("Content-Length", str(size - start))
        self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("Last-Modified", self.date_time_string(int(os.stat(path).st_mtime)))
        self.end_headers()
        return file

    def copyfile(self, source: Any, outputfile: Any) -> None:
        if self._owner.cuts and not self.path.endswith("/"):
            self._owner.cuts -= 1
            outputfile.write(source.read(self._owner.cut_after))
            outputfile.flush()
            self.close_connection = True
            self.connection.close()
            return
        with contextlib.suppress(ConnectionError):
            super().copyfile(source, outputfile)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def file_server(folder: str) -> Iterator[FileServer]:
    server = FileServer(folder)
    try:
        yield server
    finally:
        server.stop()
