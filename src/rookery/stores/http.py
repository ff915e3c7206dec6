"""A web server as a store that is only read: files, and folders where it shows indexes. Standard library."""

from __future__ import annotations

import contextlib
import html.parser
import http.client
import ipaddress
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Optional
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from rookery.errors import DataError
from rookery.stores.base import Store, StoreFile
from rookery.stores.scrub import scrub, secret_words

__all__ = ["HttpStore"]

TRIES = 4
TIMEOUT_S = 60.0
INDEX_BYTES = 64 * 1024 * 1024
MAX_FOLDERS = 100_000


class HttpStore(Store):
    """
    Args:
        url: of a folder; with or without '/' at its end.
        headers: sent with every request; they may hold credentials.
        query: added to every address (signatures).
    """

    kind = "HTTP"

    def __init__(self, name: str, url: str, headers: Optional[dict[str, str]] = None, query: str = "") -> None:
        parts = urlsplit(url)
        base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        super().__init__(name, f"http:{base}")
        self._base, self._query, self._headers = base, query.lstrip("?"), dict(headers or {})
        self._secrets = secret_words({"headers": self._headers, "query": self._query})
        _refuse_link_local(parts.hostname or "", name)

    def files(self, path: str = "") -> Iterator[StoreFile]:
        if path and not path.endswith("/"):
            single = self.find(path)
            if single is not None:
                yield single
                return
        with ThreadPoolExecutor(max_workers=8, thread_name_prefix="rookery-http") as pool:
            files, folders = self._walk(path.strip("/"))
            for name, found in zip(files, pool.map(self.find, files)):
                if found is None:
                    raise self.changed(name)
                yield found
        for name in folders:
            yield StoreFile(name, 0, "", is_folder=True)

    def find(self, path: str) -> Optional[StoreFile]:
        with contextlib.suppress(_Missing), self._ask("HEAD", path) as answer:
            if urlsplit(answer.geturl()).path.endswith("/"):
                return None
            length = answer.headers.get("Content-Length")
            if length is None or answer.headers.get("Content-Encoding", "identity") != "identity":
                return StoreFile(path, self._measure(path), _etag(answer))
            return StoreFile(path, int(length), _etag(answer))
        return None

    def open(self, path: str, etag: str = "", start: int = 0, size: Optional[int] = None) -> BinaryIO:
        return _Reader(self, path, etag, start, size)  # type: ignore[return-value]

    def check(self) -> None:
        with contextlib.suppress(_Missing):
            self._ask("HEAD", "").close()

    def get(self, path: str, start: int) -> Any:
        """An answer that stands at byte `start`, and what version it is of."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        answer = self._ask("GET", path, headers)
        if start and answer.status != 206:
            _skip(answer, start)
        return answer

    def _measure(self, path: str) -> int:
        """The size of a file whose server does not tell it."""
        total = 0
        with self._ask("GET", path) as answer:
            while piece := answer.read(1024 * 1024):
                total += len(piece)
        return total

    def _walk(self, path: str) -> tuple[list[str], list[str]]:
        """(files, empty folders) below a folder, by the links of its index pages."""
        files: list[str] = []
        empty: list[str] = []
        todo, seen = [path], {path}
        while todo:
            folder = todo.pop()
            names, below = self._index(folder)
            files.extend(names)
            if not names and not below and folder:
                empty.append(folder)
            for each in below:
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
            if len(seen) > MAX_FOLDERS:
                raise DataError(f"{self.shown(path)} has more than {MAX_FOLDERS} folders.")
        return files, empty

    def _index(self, folder: str) -> tuple[list[str], list[str]]:
        try:
            with self._ask("GET", folder + "/" if folder else "/") as answer:
                if "html" not in answer.headers.get("Content-Type", ""):
                    raise DataError(
                        f"{self.shown(folder)} shows no index, so it cannot be listed. Name its files one by one."
                    )
                text = answer.read(INDEX_BYTES).decode(answer.headers.get_content_charset() or "utf-8", "replace")
                here = answer.geturl()
        except _Missing:
            raise self.not_there(folder) from None
        links = _Links()
        links.feed(text)
        base = self._base + "/" + (quote(folder) + "/" if folder else "")
        files: list[str] = []
        folders: list[str] = []
        for href in links.found:
            target = urljoin(here, href)
            parts = urlsplit(target)
            plain = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
            if parts.query or parts.fragment or not _same(plain, base) or len(parts.path) <= len(urlsplit(base).path):
                continue
            name = unquote(parts.path[len(urlsplit(base).path) :])
            inner = name.rstrip("/")
            if not inner or "/" in inner or inner in (".", "..") or "\\" in inner or any(ord(c) < 32 for c in inner):
                continue
            (folders if name.endswith("/") else files).append(f"{folder}/{inner}" if folder else inner)
        return sorted(set(files)), sorted(set(folders))

    def _ask(self, method: str, path: str, headers: Optional[dict[str, str]] = None) -> Any:
        address = self._base + ("/" + quote(path.lstrip("/")) if path else "/")
        if self._query:
            address += "?" + self._query
        for n in range(1, TRIES + 1):
            request = urllib.request.Request(
                address, method=method, headers={"Accept-Encoding": "identity", **self._headers, **(headers or {})}
            )
            try:
                return urllib.request.urlopen(request, timeout=TIMEOUT_S)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in (404, 410):
                    raise _Missing(path) from None
                if error.code not in (408, 425, 429, 500, 502, 503, 504) or n == TRIES:
                    hint = " Look at the datastore's credentials." if error.code in (401, 403) else ""
                    raise DataError(
                        f"{self.shown(path)} cannot be read: the server answers {error.code}.{hint}"
                    ) from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                if n == TRIES or isinstance(error, ValueError):
                    reason = getattr(error, "reason", None) or error
                    words = scrub(reason, self._secrets) or type(error).__name__
                    raise DataError(f"{self.shown(path)} cannot be read: {words}.") from None
            time.sleep(0.1 * 3**n)
        raise AssertionError("unreachable")


class _Missing(Exception):
    pass


class _Reader:
    """Reads one version; a connection that breaks is made again from where it was."""

    def __init__(self, store: HttpStore, path: str, etag: str, start: int, size: Optional[int]) -> None:
        self._store, self._path, self._etag, self._at, self._size = store, path, etag, start, size
        self._answer: Any = None
        self._open()

    def _open(self) -> None:
        self.close()
        if self._size is not None and self._at >= self._size:
            return
        try:
            self._answer = self._store.get(self._path, self._at)
        except _Missing:
            raise self._store.not_there(self._path) from None
        found = _etag(self._answer)
        if self._etag and found != self._etag:
            self.close()
            raise self._store.changed(self._path)
        self._etag = found

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            pieces = []
            while piece := self.read(1024 * 1024):
                pieces.append(piece)
            return b"".join(pieces)
        for n in range(1, TRIES + 1):
            if self._answer is None:
                return b""
            try:
                data: bytes = self._answer.read(size)
            except (OSError, http.client.HTTPException):
                data = b""
            if data:
                self._at += len(data)
                return data
            is_over = self._size is None and not getattr(self._answer, "length", None)
            if not size or is_over or (self._size is not None and self._at >= self._size):
                return b""
            if n == TRIES:
                break
            time.sleep(0.05 * 3**n)
            self._open()
        raise DataError(f"{self._store.shown(self._path)} breaks off at byte {self._at}. Tried {TRIES} times.")

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 2:
            offset += self._size or 0
        elif whence == 1:
            offset += self._at
        if offset != self._at:
            self._at = offset
            self._open()
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if self._answer is not None:
            self._answer.close()
            self._answer = None

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        if tag == "a":
            self.found.extend(value for name, value in attrs if name == "href" and value)


def _etag(answer: Any) -> str:
    return str(answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "").removeprefix("W/").strip('"')


def _skip(answer: Any, count: int) -> None:
    while count > 0:
        piece = answer.read(min(count, 1024 * 1024))
        if not piece:
            return
        count -= len(piece)


def _same(url: str, base: str) -> bool:
    """Whether a link stays below a folder of the same server."""
    a, b = urlsplit(url), urlsplit(base)
    return (a.scheme, a.netloc) == (b.scheme, b.netloc) and unquote(a.path).startswith(unquote(b.path))


def _refuse_link_local(host: str, name: str) -> None:
    """Where clouds hand out the machine's own credentials."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return  # whoever asks for a file hears of it
    if any(ipaddress.ip_address(str(address).partition("%")[0]).is_link_local for address in found):
        raise DataError(
            f"Datastore '{name}': {host} is an address of this machine's own network services. It is not read."
        )
