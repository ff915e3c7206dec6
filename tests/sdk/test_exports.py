from __future__ import annotations

import subprocess
import sys

import pytest

import rookery.sdk


class TestPublicNames:
    def test_every_one_can_be_loaded_and_is_listed(self):
        assert rookery.sdk.__all__ == sorted(rookery.sdk.__all__)
        assert set(rookery.sdk.__all__) == set(rookery.sdk._MODULE_OF)
        for name in rookery.sdk.__all__:
            assert getattr(rookery.sdk, name).__name__ == name
        assert set(rookery.sdk.__all__) <= set(dir(rookery.sdk))

    def test_a_typo_lists_them(self):
        with pytest.raises(AttributeError, match=r"'Workspce'.*Workspace"):
            rookery.sdk.Workspce  # noqa: B018

    def test_importing_the_room_loads_none_of_it(self):
        code = "import sys, rookery.sdk; print([m for m in sys.modules if m.startswith('rookery.sdk.')])"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"

    def test_nothing_but_the_standard_library_is_loaded(self):
        code = (
            "import sys, rookery.sdk\n"
            "[getattr(rookery.sdk, name) for name in rookery.sdk.__all__]\n"
            "print([m for m in ('yaml', 'numpy', 'matplotlib', 'sqlalchemy', 'fastapi') if m in sys.modules])"
        )
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
