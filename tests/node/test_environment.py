"""An environment that the node builds itself, by the keeper's lock, from wheels that only the keeper's machine has."""

from __future__ import annotations

import glob
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rookery import environments
from rookery.agent.environment import log_name
from rookery.errors import EnvironmentBuildError
from rookery.spec.job import NODE_BIN, NODE_PATH, NODE_PYTHON, Job
from rookery.spec.logs import BUILD_LOG
from rookery.spec.run import EnvironmentSpec
from rookery.testing.hidden_node import HiddenNode
from tests.environments_build.wheels import write_wheel

from .conftest import RUN, SECOND, Coop

SCRIPT = "import beta, sys, os\nprint('prefix', sys.prefix)\nprint('venv', os.environ['VIRTUAL_ENV'])\n"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    write_wheel(folder, "alpha", "1.0", {"alpha/__init__.py": ""})
    write_wheel(folder, "alpha", "2.0", {"alpha/__init__.py": ""})
    write_wheel(folder, "beta", "1.0", {"beta.py": "import alpha\n"}, requires=["alpha<2"])
    return folder


def _node(coop: Coop, wheels: Path, name: str = "n0") -> HiddenNode:
    node = coop.node(name)
    node.hidden.append(str(wheels))
    return node


def _job(coop: Coop, data: dict[str, Any], run_id: str = RUN, script: str = SCRIPT, **fields: Any) -> Job:
    job = coop.run(script, run_id, **fields)
    variables = {**job.ranks[0].variables, "PATH": f"{NODE_BIN}:{NODE_PATH}"}
    rank = replace(job.ranks[0], argv=(NODE_PYTHON, "train.py"), variables=variables)
    return replace(job, ranks=(rank,), environment=data)


def _resolve(coop: Coop, *requirements: str, **fields: Any) -> dict[str, Any]:
    spec = EnvironmentSpec(name="mine", conda={"dependencies": [{"pip": list(requirements)}]}, **fields)
    return coop.kit.resolve_environment(spec, lambda data: None)


@pytest.mark.slow
def test_a_lock_is_built_on_the_node_once(coop: Coop, wheels: Path) -> None:
    data = _resolve(coop, "beta")
    assert not os.path.exists(coop.folder / "home" / "environments" / data["lock"]["key"])  # nothing is built here
    assert sorted(one["name"] for one in data["files"]) == ["alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"]
    assert str(wheels) not in json.dumps(data["files"])
    node = _node(coop, wheels)
    variables = {"PIP_CONFIG_FILE": os.devnull, "ROOKERY_NODE_NAME": "barn"}
    code, said = node.run(coop.boot_text(_job(coop, data)), **variables)
    assert (code, said) == (0, ""), coop.get()["error"]
    assert f"prefix {node.path('environments')}" in coop.log()
    log = coop.log(name=BUILD_LOG)
    assert "is built on node barn" in log
    assert "+ beta==1.0" in log
    assert "Built in" in log
    # The second run finds it and says nothing.
    code, said = node.run(coop.boot_text(_job(coop, data, SECOND)), **variables)
    assert (code, said) == (0, ""), coop.get(SECOND)["error"]
    assert coop.log(SECOND) == coop.log()
    assert coop.log(SECOND, BUILD_LOG) == ""
    assert [names for _, _, names in os.walk(node.path("environments", "leases")) if names] == []


@pytest.mark.slow
def test_the_oldest_python_for_agents_builds(coop: Coop, wheels: Path) -> None:
    """The node's own Python runs the builder; the environment has the one of the lock."""
    found = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.9*/bin/python"))) or [sys.executable]
    node, data = _node(coop, wheels), _resolve(coop, "alpha")
    job = _job(coop, data, script="import alpha, sys\nprint('%d.%d' % sys.version_info[:2])\n")
    code, said = node.run(coop.boot_text(job), python=found[0], PIP_CONFIG_FILE=os.devnull)
    assert (code, said) == (0, "")
    assert coop.get()["status"] == "Completed", coop.get()["error"]
    assert coop.log().strip() == ".".join(data["lock"]["python_version"].split(".")[:2])


@pytest.mark.slow
def test_a_failure_is_the_cause_of_the_run(coop: Coop, wheels: Path) -> None:
    data = _resolve(coop, "beta")
    data["files"] = [one for one in data["files"] if not one["name"].startswith("alpha")]
    node = _node(coop, wheels)
    code, _ = node.run(coop.boot_text(_job(coop, data)), PIP_CONFIG_FILE=os.devnull)
    assert code == 0
    run = coop.get()
    assert run["status"] == "Failed"
    assert run["error"]["kind"] == "EnvironmentError"
    assert "alpha" in run["error"]["summary"]
    assert "On node 0" in run["error"]["summary"]
    assert "alpha" in coop.log(name=BUILD_LOG)
    assert not os.path.exists(node.path("runs", RUN))


@pytest.mark.slow
def test_a_run_that_is_canceled_while_its_environment_is_built(coop: Coop, wheels: Path, tmp_path: Path) -> None:
    program = tmp_path / "slow uv"
    program.write_text('#!/bin/sh\necho $$ > "$ROOKERY_HOME/uv.pid"\necho slow >&2\nsleep 300\n')
    program.chmod(0o755)
    node = _node(coop, wheels)
    job = _job(coop, _resolve(coop, "beta"))
    process = node.boot(coop.boot_text(job), PIP_CONFIG_FILE=os.devnull, ROOKERY_UV=str(program))
    coop.wait(lambda: "slow" in coop.log(name=BUILD_LOG))  # live
    coop.record.runs.advance(job.run_id, status="CancelRequested", reason="asked to stop")
    assert process.wait(90) == 0
    assert coop.get()["status"] == "Canceled"
    with open(node.path("uv.pid")) as f:
        pid = int(f.read())
    assert not os.path.exists(f"/proc/{pid}")


@pytest.mark.slow
def test_interpreters_that_people_look_after(coop: Coop, wheels: Path, tmp_path: Path) -> None:
    spec = EnvironmentSpec(name="mine", user_managed=True, python=str(coop.folder / "home" / "bin" / "python"))
    data = coop.kit.resolve_environment(spec, lambda data: None)
    node = _node(coop, wheels)
    node.run(coop.boot_text(_job(coop, data)), ROOKERY_NODE_NAME="barn")
    error = coop.get()["error"]
    assert error["kind"] == "EnvironmentError"
    assert "does not exist on node barn" in error["summary"]
    assert "list its packages" in error["summary"]
    data = coop.kit.resolve_environment(replace(spec, python="python3"), lambda data: None)
    node.run(coop.boot_text(_job(coop, data, SECOND, script="print('hello')\n")))
    assert coop.get(SECOND)["status"] == "Completed", coop.get(SECOND)["error"]


def test_containers_are_not_brought_to_nodes(coop: Coop, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = {"enabled": True, "baseImage": "alpine:3"}
    data = _resolve(coop, "alpha", docker=docker)
    assert "images are not brought to machines" in data["deviations"][0]
    monkeypatch.setenv("ROOKERY_CONTAINERS", "strict")
    with pytest.raises(EnvironmentBuildError, match="containers=strict"):
        environments.resolve_for_node(
            EnvironmentSpec(name="mine", conda={"dependencies": []}, docker=docker), lambda data: None
        )


def test_the_log_of_each_node_has_its_name() -> None:
    assert log_name(0) == BUILD_LOG
    assert log_name(2) == "azureml-logs/20_image_build_log_2.txt"
