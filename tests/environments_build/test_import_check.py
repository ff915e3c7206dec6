"""What is imported after a build, and which failures count. The distributions lie in a real virtual
environment.
"""

import glob
import os
import subprocess
import sys
import zipfile

import pytest

from rookery.environments.building.import_check import check_imports
from rookery.environments.python.uv_program import Finished
from rookery.errors import EnvironmentBuildError
from tests.environments_build.wheels import write_wheel

PACKAGES = {
    "good": {"good/__init__.py": "__version__ = '7'\n", "tests/__init__.py": "raise Exception('not for import')\n"},
    "other-name": {"quite/__init__.py": "", "quite/inner/__init__.py": "raise Exception('only tops are imported')"},
    "spaced": {"space/part/__init__.py": "import sys; sys.stderr.write('imported space.part\\n')\n"},
    "empty": {"empty-data.txt": ""},
    "picky": {"picky.py": "raise RuntimeError('no display')\n"},
    "library": {"library.py": "raise ImportError('libGL.so.1: cannot open shared object file: No such file')\n"},
    "halved": {"halved/__init__.py": "from halved import _core\nimport halved._c\n", "halved/_core.py": ""},
    "abi": {"abi.py": "raise ValueError('numpy.dtype size changed, may indicate binary incompatibility')\n"},
    "crashing": {"crashing.py": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n"},
    "leaving": {"leaving.py": "raise SystemExit(3)\n"},
    "crowd": {"crowd.py": "import sys\nif 'good' in sys.modules: raise ImportError('undefined symbol: x')\n"},
}

# A torch that has only what torchvision's hook uses, beside a torchvision whose compiled part does not load.
TORCH = {
    "torch/__init__.py": "from torch import library, ops\n",
    "torch/ops.py": "def load_library(path):\n    raise OSError('libcudart.so.13: cannot open shared object file')\n",
    "torch/library.py": (
        "defined = []\nclass Library:\n    def __init__(self, name, kind):\n        pass\n"
        "    def define(self, schema):\n        defined.append(schema.split('(')[0])\n"
    ),
}
VISION = (
    "from torch import library\n"
    "if 'nms' not in library.defined: raise RuntimeError('operator torchvision::nms does not exist')\n"
)
PACKAGES["torch"] = TORCH
PACKAGES["torchvision"] = {"torchvision/__init__.py": VISION, "torchvision/_C.so": ""}
PACKAGES["torchvision-like"] = {
    "torchvision_like.py": "raise RuntimeError('operator torchvision::nms does not exist')\n"
}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True, timeout=60)
    site = glob.glob(str(folder / "env" / "lib" / "python3*" / "site-packages"))[0]
    for name, files in PACKAGES.items():
        with zipfile.ZipFile(write_wheel(folder, name.replace("-", "_"), "1.0", files)) as z:
            z.extractall(site)
    return str(folder / "env" / "bin" / "python")


@pytest.fixture
def check(python):
    said = []

    def run(command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        said.append(done.stderr)
        return Finished(done.returncode, done.stderr)

    def call(*names):
        report = check_imports(python, names, run, said.append)
        return report, "\n".join(said)

    return call


class TestCheckImports:
    def test_imports_what_was_asked_for(self, check):
        report, said = check("good", "other-name", "spaced", "empty", "not-there")
        assert report.notes == ()
        for words in (
            "import good: ok, 7",
            "import quite: ok",
            "imported space.part",
            "empty: has nothing to import",
            "not-there: not installed",
        ):
            assert words in said

    def test_another_reason_is_only_noted(self, check):
        report, _ = check("good", "picky", "leaving")
        assert len(report.notes) == 2
        assert "RuntimeError: no display" in report.notes[0]

    @pytest.mark.parametrize(
        ("name", "words"),
        [("library", r"libGL\.so\.1"), ("halved", r"halved\._c"), ("abi", "numpy<2"), ("crashing", "signal 11")],
    )
    def test_a_binary_that_is_missing_or_does_not_fit_fails(self, check, name, words):
        with pytest.raises(EnvironmentBuildError, match=words) as caught:
            check("good", name)
        assert f"Package '{name}' is installed but cannot be imported" in str(caught.value)

    def test_torchvision_is_tried_with_the_hook_that_runs_have(self, check):
        report, said = check("torch", "torchvision")
        assert "import torchvision: ok" in said
        assert len(report.deviations) == 1
        assert "compiled operators do not fit" in report.deviations[0]

    def test_operators_that_stay_missing_are_a_failure(self, check):
        with pytest.raises(EnvironmentBuildError, match="operator torchvision::nms does not exist"):
            check("torchvision-like")

    def test_one_that_fails_among_others_gets_a_second_chance_alone(self, check):
        report, said = check("good", "crowd")
        assert "import crowd: ok" in said
        assert report.notes == ()

    def test_says_when_the_interpreter_itself_does_not_run(self, tmp_path):
        path = tmp_path / "python"
        path.write_text("#!/bin/sh\nexit 9\n")
        os.chmod(path, 0o755)
        with pytest.raises(EnvironmentBuildError, match="exit code 9"):
            check_imports(str(path), ["x"], lambda c: Finished(subprocess.run(c, check=False).returncode, ""), print)
