"""The lock and its key; versions compared."""

from dataclasses import replace

import pytest

from rookery.environments.building.lock import Lock
from rookery.environments.python.interpreters import Interpreter
from rookery.environments.python.versions import allows, exact, release

LOCK = Lock.of(
    Interpreter("/py", "3.11.7", "built then"), python_requested="3.11", packages="six==1.0\n", asked=("six",)
)


class TestLock:
    @pytest.mark.parametrize(
        "change",
        [
            {"packages": "six==1.1\n"},
            {"python_path": "/other"},
            {"python_build": "built later"},
            {"platform": "linux-other"},
            {"asked": ()},
            {"conda": ("x=1=0",)},
            {"builder": 99},
        ],
    )
    def test_what_is_built_differently_has_another_key(self, change):
        assert replace(LOCK, **change).key != LOCK.key

    @pytest.mark.parametrize(
        "change", [{"python_requested": "3"}, {"deviations": ("x",)}, {"notes": ("x",)}, {"name": "x"}]
    )
    def test_what_is_only_said_differently_has_the_same(self, change):
        assert replace(LOCK, **change).key == LOCK.key

    def test_travels_as_data(self):
        assert Lock.from_data(LOCK.to_data()) == LOCK

    @pytest.mark.parametrize("change", [{"packages": "evil==1\n"}, {"builder": 99}, {"key": ""}])
    def test_damage_is_noticed(self, change):
        with pytest.raises(ValueError, match="damaged"):
            Lock.from_data({**LOCK.to_data(), **change})

    def test_counts_packages(self):
        assert replace(LOCK, packages="a==1 \\\n    --hash=sha256:0\n# c\nb==2\n").num_packages == 2


class TestVersions:
    @pytest.mark.parametrize(
        ("condition", "version", "expected"),
        [
            ("", "1", True),
            ("==1.2", "1.2.0", True),
            ("==1.2", "1.2.1", False),
            ("=1.2", "1.2.1", True),
            ("==1.2.*", "1.20", False),
            ("!=1.2.*", "1.2.5", False),
            (">=1.2,<2", "1.10", True),
            (">=1.2,<2", "2.0", False),
            ("~=1.2", "1.9", True),
            ("~=1.2.3", "1.3", False),
            ("==2.13.0", "2.13.0+cpu", True),
            ("==2.13.0+cu130", "2.13.0+cpu", False),
            ("gibberish", "1", False),
        ],
    )
    def test_conditions(self, condition, version, expected):
        assert allows(condition, version) is expected

    def test_parts(self):
        assert release("2.13.0+cpu") == (2, 13, 0)
        assert (exact("3.6.2"), exact("=3.8.*"), exact(">=3.8")) == ("3.6.2", "3.8", "")
