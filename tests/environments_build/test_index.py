"""With the index that this machine's pip uses: real packages, old and new interpreters."""

import subprocess

import pytest

from rookery.environments.building import builder
from rookery.environments.python.interpreters import installed
from rookery.environments.specification.wanted import from_conda

OLDEST_AND_NEWEST = sorted({one.minor for one in installed()})[:1] + sorted({one.minor for one in installed()})[-1:]


@pytest.mark.slow
class TestIndex:
    @pytest.mark.parametrize("minor", OLDEST_AND_NEWEST, ids=str)
    def test_builds_small_packages(self, minor):
        python = ".".join(map(str, minor))
        old = ["future==0.17.1"] if minor < (3, 12) else []  # a source distribution
        spec = {"dependencies": [f"python={python}", "pillow", {"pip": ["six==1.16.0", "azureml-defaults", *old]}]}
        said = []
        built = builder.build(from_conda(spec), said.append)
        code = "import six, PIL, pip, sys; print(six.__version__, '%d.%d' % sys.version_info[:2])"
        done = subprocess.run([built.python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.split() == ["1.16.0", python]
        assert b"import PIL: ok" in b"".join(said)
