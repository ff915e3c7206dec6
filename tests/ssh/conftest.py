"""Real machines that answer to ssh: network namespaces with an sshd each, once per module."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.engine.engines.base import Place
from rookery.engine.engines.ssh import SshEngine
from rookery.engine.processes import is_running
from rookery.errors import ComputeError
from rookery.spec.compute import ClusterSpec, Reach
from rookery.testing.engine_exam import Deaths
from rookery.testing.ssh_machine import SshMachines
from rookery.testing.stand_in import stand_in_boot, wait_for


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[SshMachines]:
    folder: Path = tmp_path_factory.mktemp("ssh")
    with SshMachines(["m0", "m1"], folder) as made:
        yield made


@pytest.fixture
def make(machines, tmp_path):
    """Makes and starts engines over the first machine; everything is ended afterwards."""
    engines, places = [], []

    class Maker:
        def __call__(self, state="state", python="python3", **options):
            # A handshake takes its time on a busy machine, and one that is given up looks like another trouble.
            given = machines.options(["m0"], **{"connect_timeout_s": 20, **options})
            reach = Reach(node_home=str(tmp_path / "home"), python=python)
            spec = ClusterSpec(engine="ssh", max_nodes=1, options=given, reach=reach)
            engine, deaths = SshEngine("mine", spec, stand_in_boot, str(tmp_path / state)), Deaths()
            engine.start(deaths)
            engines.append(engine)
            return engine, deaths

        def place(self, node=0, **job):
            root = tmp_path / f"node-{node}-{len(places)}"
            root.mkdir()
            run = f"run{len(places)}"
            (root / "job.json").write_text(json.dumps({"key": f"{run}/1", "node": node, **job}))
            places.append(Place(run, 1, node, str(root), "mine"))
            return places[-1]

        def up(self, place):
            return wait_for(lambda: read(place), "an agent")

    yield Maker()
    for engine in engines:
        engine.stop()
    for place in places:
        found = read(place)
        if found and is_running(found["pid"], found["start_ticks"]):
            os.kill(found["pid"], signal.SIGKILL)


def read(place: Place, name: str = "up.json"):
    try:
        return json.loads((Path(place.root) / name).read_text())
    except (OSError, ValueError):
        return None


def told(engine, deaths, make) -> str:
    """Why an agent could not be started: as its death, and as what every node says."""
    place = make.place()
    engine.place([place])
    reason = wait_for(lambda: deaths.of(place), "that it is told")[0].reason
    with pytest.raises(ComputeError) as raised:
        engine.run_on_node("print(1)", 60)
    assert raised.value.message.endswith(reason)
    return reason
