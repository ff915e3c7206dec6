"""`pip install ./shims` works, and refuses beside Microsoft's packages."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import types
import venv

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIMS = os.path.join(ROOT, "shims")


@pytest.fixture
def hook(monkeypatch):
    """hatch_build.py, which only ever sees hatchling inside pip's build."""
    interface = types.ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", os.path.join(SHIMS, "hatch_build.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dist(folder, name, record=None):
    info = folder / name
    info.mkdir()
    (info / "METADATA").write_text("")
    if record is not None:
        (info / "RECORD").write_text(record)


class TestHook:
    def test_azureml_core_is_refused_by_name(self, hook, tmp_path):
        dist(tmp_path, "azureml_core-1.61.0.post4.dist-info")
        with pytest.raises(RuntimeError, match=r"azureml-core found in .*pip uninstall azureml-core"):
            hook.refuse_beside_microsofts([str(tmp_path)])

    def test_what_writes_into_the_folder_is_refused(self, hook, tmp_path):
        dist(tmp_path, "azureml_mlflow-1.62.0.dist-info", "azureml/mlflow/__init__.py,sha256=x,1\n")
        with pytest.raises(RuntimeError, match="azureml-mlflow"):
            hook.refuse_beside_microsofts([str(tmp_path)])

    def test_what_does_not_is_fine(self, hook, tmp_path):
        dist(
            tmp_path,
            "azureml_inference_server_http-1.5.1.dist-info",
            "azureml_inference_server_http/__init__.py,,\n",
        )
        dist(tmp_path, "rookery_azureml-0.1.0.dist-info", "azureml/__init__.py,,\n")
        dist(tmp_path, "torch-2.0.dist-info", "torch/__init__.py,,\n")
        hook.refuse_beside_microsofts([str(tmp_path)])

    def test_the_environment_is_this_one(self, hook):
        assert any(os.path.exists(os.path.join(f, "pytest")) for f in hook.environment_folders())


@pytest.mark.slow
class TestPip:
    """The real thing, in a throw-away environment. pip fetches hatchling; skipped where it cannot."""

    def test_installs_and_refuses(self, tmp_path):
        place = tmp_path / "an environment"
        venv.create(place, with_pip=True, symlinks=True)
        python = str(place / "bin" / "python")
        done = self.install(python)
        if "No matching distribution found for hatchling" in done.stderr or "Could not find a version" in done.stderr:
            pytest.skip("hatchling cannot be fetched here")
        assert done.returncode == 0, done.stderr
        code = "import azureml.core, sys; print(azureml.__file__, azureml.core.VERSION)"
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "src")}
        used = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        assert str(place) in used.stdout, used.stderr
        library = next(place.glob("lib/python*/site-packages"))
        dist(library, "azureml_core-1.61.0.post4.dist-info")
        again = self.install(python, "--force-reinstall")
        assert again.returncode != 0
        assert "cannot be installed beside Microsoft's azureml packages: azureml-core" in again.stderr + again.stdout

    def install(self, python, *options):
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", *options, SHIMS]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
