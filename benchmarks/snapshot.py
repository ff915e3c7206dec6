"""Snapshot of 10,000 files with one changed."""

from __future__ import annotations

import os
import tempfile
import time

from benchmarks.result import Result, median_of

FILES = 10_000


def measure(ws) -> list[Result]:
    from rookery.submit import take_snapshot

    with tempfile.TemporaryDirectory() as folder:
        for i in range(FILES):
            sub = os.path.join(folder, f"d{i // 100:03d}")
            os.makedirs(sub, exist_ok=True)
            with open(os.path.join(sub, f"f{i}.txt"), "w") as f:
                f.write(f"file {i}\n" * 20)
        start = time.perf_counter()
        first = take_snapshot(ws.client, folder)
        cold = time.perf_counter() - start
        if first.files != FILES:
            raise AssertionError(f"{FILES} files were made, {first.files} taken")
        _wait_past_the_racy_second()
        take_snapshot(ws.client, folder)
        count = [0]

        def change_one() -> None:
            count[0] += 1
            with open(os.path.join(folder, "d050", "f5000.txt"), "w") as f:
                f.write(f"changed {count[0]}\n")
            taken = take_snapshot(ws.client, folder)
            if taken.sent_files != 1:
                raise AssertionError(f"one file was changed, {taken.sent_files} sent")

        changed = median_of(5, change_one)
        unchanged = median_of(5, lambda: take_snapshot(ws.client, folder))
    return [
        Result("snapshot of 10,000 files, one changed", changed, "s", 0.3),
        Result("snapshot of 10,000 files, none changed", unchanged, "s", None),
        Result("snapshot of 10,000 files, the first time", cold, "s", None),
    ]


def _wait_past_the_racy_second() -> None:
    """Files younger than the cache are hashed again by rule; a source folder is normally older than its last submit."""
    time.sleep(1.1)
