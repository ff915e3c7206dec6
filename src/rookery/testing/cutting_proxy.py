"""A network that breaks: a proxy on loopback that cuts connections in the middle."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable

__all__ = ["CuttingProxy"]

MB = 1024 * 1024


class CuttingProxy:
    """Passes bytes on to a port of this machine, and cuts the first `cuts` connections that carry many of them, either way.

    Args:
        after: how many bytes a connection carries before it is cut; else a random number of up to 4 MiB, the same every time.
    """

    def __init__(self, port: int, cuts: int, after: int = 0, seed: int = 7) -> None:
        self.cuts, self.sent = cuts, 0  # `sent`: bytes that have gone to the port
        self._target, self._after, self._random = port, after, random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            limit = [self._after or self._random.randrange(200_000, 4 * MB)]
            threading.Thread(target=self._both, args=(near, far, limit), daemon=True).start()

    def _both(self, near: socket.socket, far: socket.socket, limit: list[int]) -> None:
        with near, far:
            back = threading.Thread(target=self._pump, args=(far, near, limit, lambda n: None), daemon=True)
            back.start()
            self._pump(near, far, limit, self._count)
            back.join()

    def _count(self, n: int) -> None:
        self.sent += n

    def _pump(self, source: socket.socket, sink: socket.socket, limit: list[int], count: Callable[[int], None]) -> None:
        try:
            while data := source.recv(256 * 1024):
                with self._lock:
                    limit[0] -= len(data)
                    cut = limit[0] < 0 and self.cuts > 0
                    self.cuts -= cut
                    if cut:
                        data = data[: len(data) // 2]
                    count(len(data))
                sink.sendall(data)
                if cut:
                    break
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
