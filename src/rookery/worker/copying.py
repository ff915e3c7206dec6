"""Copying bytes the cheapest way this machine has: in the kernel where it can (and shared, where the file
system shares)."""

import os
import shutil

__all__ = ["copy_file"]

PIECE = 64 * 1024 * 1024


def copy_file(source, target):
    """Copy the bytes of the file `source` to the new file `target`; returns how many."""
    with open(source, "rb") as reader, open(target, "xb") as writer:
        if not _copy_in_kernel(reader.fileno(), writer.fileno()):
            shutil.copyfileobj(reader, writer, 1024 * 1024)
            writer.flush()
        return os.fstat(writer.fileno()).st_size


def _copy_in_kernel(reader, writer):
    copy = getattr(os, "copy_file_range", None)  # Python 3.8
    if copy is None:
        return False
    total = 0
    try:
        while True:
            count = copy(reader, writer, PIECE)
            if count == 0:
                # Files of /proc and some network file systems say 0 at once: let the plain copy find out.
                return total > 0
            total += count
    except OSError:
        if total:
            raise
        return False
