"""The journal: one checksummed, append-only file per process. Writing costs microseconds, reading is the
agent's work.

A line is `<crc32 of payload, 8 hex><space><payload><newline>`; the payload is one JSON array. One write(2)
per record on an O_APPEND descriptor, so threads never tear each other's lines; a forked child opens a file
of its own.
"""

import binascii
import errno
import json
import os
import sys
import threading
import time

__all__ = ["ChildSink", "Journal", "read_journal", "scan_journal"]

MAX_CACHED_NAMES = 4096
READ_BYTES = 4 * 1024 * 1024

_crc32 = binascii.crc32
_getpid = os.getpid
_now = time.time
_write = os.write
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_ODD_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class Journal(object):
    """Writes records.

    Promises: a record is accepted when `append` or `scalar` returns; thread-safe; safe across fork; lack of
    disk never raises in training code: it warns once on stderr and counts in `dropped`.
    """

    def __init__(self, folder, uploads=None):
        self.folder = folder
        self.uploads = uploads
        self.dropped = 0
        self._fd = -1
        self._pid = 0
        self._names = {}
        self._lock = threading.Lock()
        self._torn = False
        self._warned = False
        self._told_dropped = 0

    @property
    def path(self):
        """The file of this process (opened by the first record)."""
        self._open()
        return self._path

    def scalar(self, name, value, step=None):
        """A scalar metric, the fast way. `value` is a plain float or int, `step` a plain int or None."""
        try:
            quoted = self._names[name]
        except KeyError:
            quoted = self._remember(name)
        number = repr(value)
        if number[-1] in "fn":
            number = _ODD_FLOATS[number]
        if step is None:
            line = ('["m",null,%s,%s,null,%.6f]' % (quoted, number, _now())).encode("ascii")
        else:
            line = ('["m",null,%s,%s,%d,%.6f]' % (quoted, number, step, _now())).encode("ascii")
        line = b"%08x %b\n" % (_crc32(line), line)
        if self._pid != _getpid() or self._torn:
            self._slow(line)
            return
        try:
            if _write(self._fd, line) == len(line):
                return
        except OSError as error:
            self._refused(error)
            return
        self._tear()

    def append(self, record):
        """One record, in the shape of docs/inside/protocol.md."""
        payload = _encode(record).encode("ascii")
        self._slow(b"%08x %b\n" % (_crc32(payload), payload))

    def extend(self, records):
        for record in records:
            self.append(record)

    def for_child(self, child_id):
        """A sink whose records belong to a child run."""
        return ChildSink(self, child_id)

    def close(self):
        with self._lock:
            if self._pid == _getpid() and self._fd >= 0:
                os.close(self._fd)
            self._fd, self._pid = -1, 0

    def _remember(self, name):
        if len(self._names) >= MAX_CACHED_NAMES:
            self._names.clear()
        quoted = self._names[name] = json.dumps(name)
        return quoted

    def _open(self):
        with self._lock:
            if self._pid == _getpid():
                return
            # After a fork the parent's file stays the parent's: this process gets its own.
            name = "%d-%s%s.jnl" % (_getpid(), binascii.hexlify(os.urandom(4)).decode("ascii"), _rank_mark())
            os.makedirs(self.folder, exist_ok=True)  # several processes begin theirs at once
            self._path = os.path.join(self.folder, name)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            self._fd = os.open(self._path, flags, 0o600)
            self._pid, self._torn = _getpid(), False

    def _slow(self, line):
        try:
            if self._pid != _getpid():
                self._open()
            if self._torn:
                # The last line lacks its end: begin a fresh one, so that only one record is lost.
                line = b"\n" + line
            if _write(self._fd, line) != len(line):
                self._tear()
                return
            self._torn = False
        except OSError as error:
            self._refused(error)
            return
        if self.dropped != self._told_dropped:
            self._told_dropped = self.dropped
            self.append(["w", None, "%d records could not be written and are lost (disk full?)." % self.dropped])

    def _tear(self):
        self._torn = True
        self._refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def _refused(self, error):
        self.dropped += 1
        if self._warned:
            return
        self._warned = True
        try:
            sys.stderr.write(
                "rookery: metrics cannot be written to {} ({}). Training goes on; what is logged until "
                "there is space "
                "is lost.\n".format(self.folder, error.strerror or error)
            )
        except Exception:
            pass


def _rank_mark():
    """`-r3` below a launcher of several ranks: they share a folder, so that only the name tells whose journal it is."""
    if not os.environ.get("ROOKERY_RANK_MAIN") or os.environ.get("WORLD_SIZE", "1") == "1":
        return ""
    rank = os.environ.get("ROOKERY_RANK", "")
    return "-r" + rank if rank.isdigit() else ""


class ChildSink(object):
    """Hands records to another sink in the name of a child run."""

    def __init__(self, sink, child_id):
        self._sink = sink
        self.child_id = child_id

    @property
    def uploads(self):
        return getattr(self._sink, "uploads", None)

    def append(self, record):
        record = list(record)
        place = 2 if record[0] == "c" else 1
        if record[place] is None:
            record[place] = self.child_id
        self._sink.append(record)

    def extend(self, records):
        for record in records:
            self.append(record)

    def scalar(self, name, value, step=None):
        self.append(["m", None, name, value, step, _now()])

    def for_child(self, child_id):
        return ChildSink(self._sink, child_id)


def read_journal(path, offset=0, limit=READ_BYTES):
    """Complete records from `offset` on: (records, new offset, number of damaged lines).

    An incomplete last line is left for the next call, because it may still grow. `limit` bounds the bytes
    read at a time (a single longer record is still read whole); call again until the offset stays.
    """
    rows, end = scan_journal(path, offset, limit)
    records = [record for _, record in rows if record is not None]
    return records, end, sum(1 for _, record in rows if record is None)


def scan_journal(path, offset=0, limit=READ_BYTES):
    """The same, as ([(end offset, record or None when damaged)], new offset)."""
    data = _read(path, offset, limit)
    cut = data.rfind(b"\n") + 1
    if cut == 0:
        return [], offset
    ends, payloads, position = [], [], offset
    for line in data[: cut - 1].split(b"\n"):
        position += len(line) + 1
        if line:  # empty where a writer recovered from a torn line
            ends.append(position)
            payloads.append(_payload(line))
    return list(zip(ends, _parse(payloads))), offset + cut


def _read(path, offset, limit):
    with open(path, "rb", buffering=0) as f:
        f.seek(offset)
        data = f.read(limit) or b""
        while b"\n" not in data:
            more = f.read(limit)
            if not more:
                break
            data += more
    return data


def _payload(line):
    if len(line) < 10 or line[8:9] != b" ":
        return None
    try:
        good = int(line[:8], 16) == _crc32(line[9:])
    except ValueError:
        return None
    return line[9:] if good else None


def _parse(payloads):
    """All at once where nothing is damaged: several times faster than one by one."""
    if None not in payloads:
        try:
            return json.loads("[" + b",".join(payloads).decode("utf-8") + "]")
        except ValueError:
            pass
    return [_parse_one(payload) for payload in payloads]


def _parse_one(payload):
    if payload is None:
        return None
    try:
        record = json.loads(payload.decode("utf-8"))
    except ValueError:
        return None
    return record if isinstance(record, list) and record else None
