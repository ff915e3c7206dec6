"""Conda packages on a node: py-rattler comes with the job, because the node has none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rookery.spec.logs import BUILD_LOG
from rookery.spec.run import EnvironmentSpec
from tests.environments_conda.conftest import channel, quiet_conda, rattler, with_rattler  # noqa: F401  fixtures

from .conftest import Coop
from .test_environment import _job, _node, wheels  # noqa: F401

SCRIPT = "import greet, alpha, os, sys\ngreet.main()\nprint(os.environ['CONDA_PREFIX'] == sys.prefix, sys.prefix)\n"


@pytest.mark.slow
@pytest.mark.usefixtures("with_rattler")
def test_conda_packages_on_a_node(coop: Coop, wheels: Path, channel: Any) -> None:  # noqa: F811
    conda = {"channels": [channel.url], "dependencies": ["greet", {"pip": ["alpha"]}]}
    data = coop.kit.resolve_environment(EnvironmentSpec(name="mine", conda=conda), lambda data: None)
    assert data["lock"]["conda"]
    assert data["tools"]["rattler"]
    node = _node(coop, wheels)
    job = _job(coop, data, script=SCRIPT)
    code, said = node.run(coop.boot_text(job), PIP_CONFIG_FILE=os.devnull)
    assert (code, said) == (0, "")
    assert coop.get()["status"] == "Completed", coop.get()["error"]
    assert f"hello from conda\nTrue {node.path('environments')}" in coop.log()
    assert "conda packages" in coop.log(name=BUILD_LOG)
