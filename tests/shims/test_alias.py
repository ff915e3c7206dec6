"""`azureml.X` is the module `rookery.azureml.X`, seen from a process of its own on every installed Python."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIMS, SRC = os.path.join(ROOT, "shims"), os.path.join(ROOT, "src")
PYTHONS = sorted({*glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")), sys.executable})

EVERYWHERE = """
    import pickle, sys
    from azureml.core import Run, Dataset, Workspace
    from azureml.train.automl import AutoMLConfig
    import azureml, azureml.core, azureml.core.run as r
    from azureml.core.run import Run as Again
    from azureml.exceptions import UserErrorException
    from azureml.core.compute_target import ComputeTargetException
    from azureml.telemetry import set_diagnostics_collection
    from azureml._restclient import snapshots_client
    import rookery.azureml.core.run, rookery.errors
    assert Run is Again is azureml.core.Run
    assert r is rookery.azureml.core.run is sys.modules["azureml.core.run"] is azureml.core.run
    assert r.__name__ == r.__spec__.name == "rookery.azureml.core.run", (r.__name__, r.__spec__)
    assert ComputeTargetException is rookery.errors.ComputeError
    assert pickle.loads(pickle.dumps(Run)) is Run
    assert pickle.loads(pickle.dumps(UserErrorException("x"))).message == "x"
    set_diagnostics_collection(send_diagnostics=True)
    snapshots_client.SNAPSHOT_MAX_SIZE_BYTES = 10 ** 12
    for use in (lambda: AutoMLConfig.anything(None, "x"), lambda: AutoMLConfig()):
        try: use()
        except rookery.errors.UnsupportedError as error: assert "AutoMLConfig" in str(error)
        else: raise AssertionError("a placeholder was used without a word")
    wrong = ["from azureml.core import Nonsense", "import azureml.nonsense", "import azureml.core.nonsense"]
    for text in wrong:
        try: exec(text)
        except ImportError as error: assert "onsense" in str(error), error
        else: raise AssertionError(text)
    from rookery.azureml.surface import SURFACE
    import importlib
    for module in SURFACE:
        found = importlib.import_module(module)
        for name in SURFACE[module]:
            assert getattr(found, name, None) is not None, (module, name)
    names = {}
    exec("from azureml.core import *", names)
    assert names["Run"] is Run and "VERSION" in names
    print("run from", Run.__module__)
"""


def run(python, code, path=(SHIMS, SRC), **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ROOKERY_", "AZUREML_", "PYTHON"))}
    environment.update(PYTHONPATH=os.pathsep.join(map(str, path)), PYTHONDONTWRITEBYTECODE="1", **more)
    code = textwrap.dedent(code)
    return subprocess.run(
        [python, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )


class TestEveryPython:
    @pytest.mark.parametrize("python", PYTHONS)
    def test_the_surface_imports(self, python):
        done = run(python, EVERYWHERE)
        assert done.returncode == 0, done.stderr
        version = run(python, "import sys; print(sys.version_info >= (3, 9))").stdout.strip()
        assert done.stdout.split()[-1] == ("rookery.sdk.run" if version == "True" else "rookery.worker.run")

    @pytest.mark.parametrize("python", PYTHONS)
    def test_a_script_outside_of_a_run_gets_the_offline_run(self, python):
        done = run(python, "from azureml.core import Run; r = Run.get_context(); r.log('loss', 0.5); print(r.id)")
        assert done.returncode == 0, done.stderr
        assert "OfflineRun_" in done.stdout


class TestImport:
    def test_is_light(self):
        """A training script that wants only Run does not pay for the rest."""
        done = run(
            sys.executable,
            """
            import sys, azureml.core
            print([m for m in sys.modules if m.startswith(("rookery.sdk", "yaml", "numpy"))])
            """,
        )
        assert done.stdout.strip() == "[]", done.stdout + done.stderr

    def test_without_rookery_says_what_to_do(self, tmp_path):
        done = run(
            sys.executable,
            """
            import sys
            sys.path = [p for p in sys.path if "site-packages" not in p and "src" not in p]
            import azureml
            """,
            path=[SHIMS],
        )
        assert done.returncode == 1
        assert "pip install" in done.stderr.splitlines()[-1]

    def test_merged_with_microsofts_is_refused(self, tmp_path):
        merged = tmp_path / "azureml"
        (merged / "core").mkdir(parents=True)
        shutil.copy(os.path.join(SHIMS, "azureml", "__init__.py"), merged)
        (merged / "core" / "__init__.py").write_text("")
        done = run(sys.executable, "import azureml.core", path=[tmp_path, SRC])
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert "Microsoft" in last
        assert "pip uninstall" in last
