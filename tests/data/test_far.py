"""Data of runs on machines that see nothing of the workspace: it comes and goes through the keeper."""

from __future__ import annotations

import glob
import json
import os
import signal
import textwrap
import time

import pytest

from rookery.sdk import Dataset, OutputFileDatasetConfig
from rookery.sdk.distributed import PyTorchConfiguration
from rookery.testing.ending import wait_for_end
from tests.node.test_story import attach, farm, managed, show  # noqa: F401  farm is a fixture

pytestmark = pytest.mark.slow

USE = """
    import hashlib, os, sys
    from azureml.core import Run
    run = Run.get_context()
    data, out = sys.argv[1:]
    found = {}
    for here, _, names in os.walk(data):
        for name in names:
            full = os.path.join(here, name)
            found[os.path.relpath(full, data)] = hashlib.sha256(open(full, "rb").read()).hexdigest()
    rank = os.environ.get("RANK", "0")
    with open(os.path.join(out, "rank " + rank), "w") as f:
        f.write(hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest())
    open(os.path.join(out, "big " + rank), "wb").write(b"x" * 2_000_000)
    print("SEES", os.path.exists({root!r}))
"""


def put(barn, files):
    store = barn.ws.get_default_datastore()
    source = barn.folder / "data's source"
    for path, data in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(data)
    store.upload(str(source), "far", show_progress=False)
    return Dataset.File.from_files((store, "far")).register(barn.ws, "far")


def told(files):
    import hashlib

    rows = sorted((path, hashlib.sha256(data).hexdigest()) for path, data in files.items())
    return hashlib.sha256(repr(rows).encode()).hexdigest().encode()


def blobs(barn):
    return glob.glob(str(barn.folder / "machines" / "*" / ".rookery" / "node" / "data" / "cache" / "blobs" / "*" / "*"))


def test_two_nodes_fetch_and_bring_back(farm):  # noqa: F811
    attach(farm)
    files = {f"d/{i} 'ü'.txt": b"%d" % i for i in range(50)} | {"large": os.urandom(5_000_000), "none": b""}
    dataset = put(farm, files)
    script = USE.replace("{root!r}", repr(os.path.join(farm.root, "workspace.json")))
    for version in (1, 2):
        output = OutputFileDatasetConfig("out").register_on_complete("brought-back")
        arguments = [dataset.as_named_input("data").as_mount(), output]
        run = farm.submit(script, managed(), PyTorchConfiguration("Gloo", 2, 2), arguments=arguments)
        wait_for_end(run)
        assert run.get_status() == "Completed", show(run)
        made = Dataset.get_by_name(farm.ws, "brought-back")
        assert made.version == version
        assert made.to_path() == ["/big 0", "/big 1", "/rank 0", "/rank 1"]
        folder = farm.folder / f"down {version}"
        made.download(str(folder))
        assert (folder / "rank 0").read_bytes() == (folder / "rank 1").read_bytes() == told(files)
        assert (folder / "big 1").stat().st_size == 2_000_000
        assert "SEES False" in str(run.get_details_with_logs()["logFiles"])
    assert blobs(farm)  # kept for the next run


def test_a_keeper_that_dies_while_data_is_fetched(farm):  # noqa: F811
    attach(farm)
    files = {f"large {i}": os.urandom(8_000_000) for i in range(12)}
    dataset = put(farm, files)
    output = OutputFileDatasetConfig("out").register_on_complete("brought-back")
    script = USE.replace("{root!r}", "'/x'")
    run = farm.submit(script, managed(), arguments=[dataset.as_named_input("data").as_mount(), output])
    deadline = time.monotonic() + 120
    while not blobs(farm) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert blobs(farm)
    farm.kill_keeper()
    farm.start_keeper()
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    (path,) = [
        p for p in Dataset.get_by_name(farm.ws, "brought-back").download(str(farm.folder / "down")) if "rank" in p
    ]
    with open(path, "rb") as f:
        assert f.read() == told(files)


def test_an_agent_that_is_killed_while_it_fetches(farm):  # noqa: F811
    """The run is tried again on its own, goes on with what is there, and gets all of it."""
    attach(farm, vm_priority="lowpriority")
    files = {f"large {i}": os.urandom(8_000_000) for i in range(12)}
    dataset = put(farm, files)
    output = OutputFileDatasetConfig("out").register_on_complete("brought-back")
    # Should the first attempt get as far as its script (a machine with little time for this test), it does not end either.
    script = "import os, time\nif os.environ['ROOKERY_ATTEMPT'] == '1':\n    time.sleep(300)\n" + textwrap.dedent(USE)
    run = farm.submit(
        script.replace("{root!r}", "'/x'"), managed(), arguments=[dataset.as_named_input("data").as_mount(), output]
    )
    deadline = time.monotonic() + 120
    while not blobs(farm):
        assert time.monotonic() < deadline, show(run)
        time.sleep(0.002)
    with open(os.path.join(farm.root, "keeper", "engines", "farm", "agents.json")) as f:
        os.kill(json.load(f)[f"{run.id}/1/0"][0], signal.SIGKILL)
    kept = {path: os.stat(path).st_ino for path in blobs(farm)}
    wait_for_end(run)
    assert run.get_status() == "Completed", show(run)
    attempts = run.get_details()["attempts"]
    assert [attempt["result"] for attempt in attempts] == ["lost", "completed"]
    (path,) = [
        p for p in Dataset.get_by_name(farm.ws, "brought-back").download(str(farm.folder / "down")) if "rank" in p
    ]
    with open(path, "rb") as f:
        assert f.read() == told(files)
    machines = {path.split("/machines/")[1].split("/")[0] for path in blobs(farm)}
    if len(machines) == 1:  # it was tried again on the same machine: what was whole there was not fetched again
        assert kept.items() <= {path: os.stat(path).st_ino for path in blobs(farm)}.items()
