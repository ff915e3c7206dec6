"""Public = exported by the room's `__init__` and in `__all__`."""

from __future__ import annotations

import glob
import importlib
import os
import subprocess
import sys
import types

import pytest

import rookery

SRC = os.path.dirname(rookery.__file__)
ROOMS = sorted(
    name
    for name in os.listdir(SRC)
    if os.path.isfile(os.path.join(SRC, name, "__init__.py")) and not name.startswith("_")
)
FILES = ["errors", "settings"]
OLD_PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.[6789].*/bin/python")))


@pytest.mark.parametrize("room", ROOMS)
class TestRooms:
    def test_public_names_are_in_all(self, room):
        module = importlib.import_module("rookery." + room)
        if not hasattr(module, "__all__"):
            assert _public(module) == set(), f"rookery.{room} exports names and has no __all__"
            return
        assert _public(module) <= set(module.__all__)

    def test_all_names_exist(self, room):
        module = importlib.import_module("rookery." + room)
        for name in getattr(module, "__all__", []):
            getattr(module, name)

    def test_each_is_there_once(self, room):
        names = getattr(importlib.import_module("rookery." + room), "__all__", [])
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", FILES)
def test_public_names_of_files(name):
    module = importlib.import_module("rookery." + name)
    defined = {n for n in _public(module) if getattr(getattr(module, n), "__module__", None) == module.__name__}
    assert defined == {n for n in module.__all__ if hasattr(getattr(module, n), "__module__")}


class TestRookery:
    def test_every_name_is_there(self):
        for name in rookery.__all__:
            assert getattr(rookery, name) is not None
        assert set(rookery.__all__) <= set(dir(rookery))

    def test_they_are_the_sdks(self):
        from rookery.sdk import Workspace

        assert rookery.Workspace is Workspace
        assert set(rookery._SDK) <= set(importlib.import_module("rookery.sdk").__all__)

    def test_an_unknown_name(self):
        with pytest.raises(AttributeError, match=r"no attribute 'Wrokspace'. It has: .*Workspace"):
            rookery.Wrokspace  # noqa: B018

    def test_importing_it_loads_nothing(self):
        program = "import sys; before = set(sys.modules); import rookery; print(*(set(sys.modules) - before))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["rookery"]

    @pytest.mark.parametrize("python", OLD_PYTHONS)
    def test_imports_on_old_pythons(self, python):
        program = (
            f"import sys; sys.path.insert(0, {os.path.dirname(SRC)!r}); import rookery; print(rookery.__version__)"
        )
        done = subprocess.run([python, "-B", "-I", "-c", program], capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == (rookery.__version__, "")


def _public(module: types.ModuleType) -> set[str]:
    """What importing the module put there, other than modules and what the standard library gave."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", "").startswith("rookery")
    }
