"""Being told when a file appears in a folder: inotify through ctypes, where there is any. Runs on Python 3.6."""

import ctypes
import os
import select
import struct

__all__ = ["Doorbell"]

IN_CREATE, IN_MOVED_TO = 0x100, 0x80
IN_NONBLOCK, IN_CLOEXEC = 0o4000, 0o2000000
_EVENT = struct.Struct("iIII")


class Doorbell(object):
    """Rings when something is moved into a folder or made in it.

    Promises: no CPU while nothing happens; `wake` ends a wait from another thread. Where there is no inotify, and for
    what other machines do to shared files, nothing rings: whoever waits looks for himself after a while.
    """

    def __init__(self):
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._libc = ctypes.CDLL(None, use_errno=True)
        init = getattr(self._libc, "inotify_init1", None)
        self._fd = init(IN_NONBLOCK | IN_CLOEXEC) if init is not None else -1
        self._poll = select.poll()  # not select(): the keeper has descriptors above 1024
        for fd in (self._read, self._fd):
            if fd >= 0:
                self._poll.register(fd, select.POLLIN)

    def add(self, folder, files=True):
        """Ring for files that are moved into the folder; with files=False for what is made in it, folders too. Its number,
        or -1 where nothing will ring."""
        if self._fd < 0:
            return -1
        mask = IN_MOVED_TO if files else IN_MOVED_TO | IN_CREATE
        return self._libc.inotify_add_watch(self._fd, os.fsencode(folder), mask)

    def wait(self, timeout_s):
        """The numbers of the folders that rang, -1 among them where somebody woke us or too much happened to tell; empty
        when the time is over."""
        rang = set()
        for fd, _ in self._poll.poll(max(0, int(timeout_s * 1000 + 0.999))):
            data = _read_all(fd)
            if fd == self._read:
                rang.add(-1)
                continue
            at = 0
            while at + _EVENT.size <= len(data):
                number, _, _, length = _EVENT.unpack_from(data, at)
                rang.add(number)
                at += _EVENT.size + length
        return rang

    def wake(self):
        try:
            os.write(self._write, b"x")
        except OSError:
            pass

    def close(self):
        for fd in (self._fd, self._read, self._write):
            if fd >= 0:
                os.close(fd)
        self._fd = self._read = self._write = -1


def _read_all(fd):
    data = b""
    try:
        while True:
            piece = os.read(fd, 65536)
            if not piece:
                return data
            data += piece
    except OSError:
        return data
