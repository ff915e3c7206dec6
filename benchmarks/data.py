"""A data set of 100,000 files: registered, and mounted for a process, beside a plain copy of the same files."""

from __future__ import annotations

import os
import shutil
import tempfile
import time

from benchmarks.result import Result

FILES = 100_000
PEER = "shutil.copytree"


def measure(ws) -> list[Result]:
    from rookery.sdk import Dataset, Datastore

    with tempfile.TemporaryDirectory(prefix="rookery-bench-data-") as folder:
        source = os.path.join(folder, "source")
        _make(source)
        start = time.perf_counter()
        shutil.copytree(source, os.path.join(folder, "copy"))
        copy_s = time.perf_counter() - start
        shutil.rmtree(os.path.join(folder, "copy"))
        store = Datastore.register_folder(ws, "bench_data", source, overwrite=True)
        dataset = Dataset.File.from_files((store, ""), validate=False)
        start = time.perf_counter()
        registered = dataset.register(ws, "bench-data", create_new_version=True)
        register_s = time.perf_counter() - start
        if registered._data["files"] != FILES:
            raise AssertionError(f"{FILES} files were made, {registered._data['files']} registered")
        start = time.perf_counter()
        dataset.register(ws, "bench-data", create_new_version=True)
        again_s = time.perf_counter() - start
        mounted = registered.mount(os.path.join(folder, "mount"))
        start = time.perf_counter()
        mounted.start()
        mount_s = time.perf_counter() - start
        mounted.stop()
        store.unregister()
    return [
        Result("data set of 100,000 files, registered", register_s, "s", 30.0, copy_s, PEER),
        Result("data set of 100,000 files, registered again", again_s, "s", 15.0, copy_s, PEER),
        Result("data set of 100,000 files, mounted", mount_s, "s", 20.0, copy_s, PEER),
    ]


def _make(source: str) -> None:
    for i in range(100):
        here = os.path.join(source, f"d{i:02d}")
        os.makedirs(here)
        for k in range(FILES // 100):
            with open(os.path.join(here, f"{k}.txt"), "wb") as f:
                f.write(b"picture %d of %d\n" % (k, i) * 20)
