"""A real py-rattler, and a channel in a folder with a few small packages made by hand."""

from __future__ import annotations

import os
import sys

import pytest

from rookery.environments.conda import program as conda_program
from tests.environments_conda.channel_maker import PLACEHOLDER, ChannelMaker, CondaPackage
from tests.environments_conda.rattler_venv import rattler_python

PYTHON = os.path.realpath(sys.executable)
VERSION = ".".join(map(str, sys.version_info[:3]))
MINOR = ".".join(map(str, sys.version_info[:2]))


@pytest.fixture(scope="session")
def rattler():
    """The interpreter that has py-rattler. Installed from the index where it is missing; in CI it must be possible."""
    try:
        return rattler_python()
    except (RuntimeError, OSError) as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"py-rattler cannot be installed here: {error}")


@pytest.fixture(autouse=True)
def quiet_conda(home, tmp_path, monkeypatch):
    """No .condarc, variables or certificates of the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith(("CONDA", "RATTLER")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    own_home = tmp_path / "person"
    own_home.mkdir()
    monkeypatch.setenv("HOME", str(own_home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return own_home


@pytest.fixture
def with_rattler(rattler, monkeypatch):
    """The child runs in the interpreter of the setting, as where Rookery's own environment has no py-rattler."""
    monkeypatch.setattr(conda_program, "_is_beside_us", lambda: False)
    monkeypatch.setenv("ROOKERY_CONDA_PYTHON", rattler)
    return rattler


def python_package(version: str = VERSION) -> CondaPackage:
    """A python that is the one running these tests, reached through a link, as in a virtual environment."""
    return CondaPackage(
        "python",
        version,
        {
            "pyvenv.cfg": f"home = {os.path.dirname(PYTHON)}\nversion = {VERSION}\ninclude-system-site-packages = false\n"
        },
        links={"bin/python": PYTHON, f"bin/python{MINOR}": "python", "bin/python3": "python"},
    )


PACKAGES = (
    CondaPackage(
        "greet",
        "1.0",
        {"site-packages/greet.py": "def main():\n    print('hello from conda')\n"},
        ("python", "words"),
        "python",
        ("greet = greet:main",),
    ),
    CondaPackage("greet", "2.0", {"site-packages/greet.py": "NEVER = 1\n"}, ("python", "words >=2"), "python"),
    CondaPackage(
        "words",
        "1.0",
        {"share/words.txt": f"installed in {PLACEHOLDER}\n", "share/big.txt": "many words " * 1000},
        ending=".tar.bz2",
    ),
    CondaPackage("words", "1.1", {"share/words.txt": f"installed in {PLACEHOLDER}\n", "share/big.txt": "more " * 1000}),
    CondaPackage("left", "1.0", {"share/left": "l"}, ("words <1.1",)),
    CondaPackage("right", "1.0", {"share/right": "r"}, ("words >=1.1",)),
    CondaPackage(
        "active",
        "1.0",
        {
            "etc/conda/activate.d/active.sh": 'export ACTIVE_DATA="$CONDA_PREFIX/share"\necho activating\nfalse\n',
            "etc/conda/activate.d/broken.sh": 'export BROKEN="it\'s\nset"\nno_such_command\n',
            "etc/conda/env_vars.d/active.json": '{"ACTIVE_LEVEL": "2"}',
        },
    ),
    CondaPackage("scripted", "1.0", {"bin/.scripted-post-link.sh": "echo ran > $PREFIX/share/ran\n"}),
)


@pytest.fixture
def channel(tmp_path):
    """A channel at an odd path."""
    return ChannelMaker(tmp_path / "a channel's folder").add(python_package(), *PACKAGES)


@pytest.fixture
def log():
    """Takes a build log's bytes; `text` is what was said."""

    class Log:
        def __init__(self):
            self.data = b""

        def __call__(self, data):
            self.data += data

        @property
        def text(self):
            return self.data.decode()

    return Log()
