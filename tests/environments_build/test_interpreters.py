"""Interpreters: found, remembered, chosen."""

import os
import platform
import sys

import pytest

from rookery.environments.python import interpreters
from rookery.environments.python.interpreters import Interpreter, choose, installed
from rookery.environments.python.versions import allows
from rookery.errors import EnvironmentBuildError, UserError

SOME = [Interpreter(f"/py/{v}", v) for v in ("3.6.15", "3.8.5", "3.8.18", "3.9.18", "3.12.1")]


class TestChoose:
    @pytest.mark.parametrize(
        ("requested", "version", "deviates"),
        [
            ("3.8.5", "3.8.5", False),
            ("3.8", "3.8.18", False),
            ("3.8.*", "3.8.18", False),
            ("3.6.2", "3.6.15", True),
            (">=3.8,<3.9", "3.8.18", False),
            ("<3.8", "3.6.15", False),
            ("~=3.8.0", "3.8.18", False),
            ("==3.9.*", "3.9.18", False),
        ],
    )
    def test_takes_the_exact_one_then_the_same_minor(self, requested, version, deviates):
        choice = choose(requested, SOME)
        assert choice.interpreter.version == version
        assert bool(choice.deviation) is deviates
        assert choice.is_exact is not deviates

    def test_says_what_was_asked_and_what_is_used(self):
        assert "requested 3.6.2, used 3.6.15" in choose("3.6.2", SOME).deviation

    @pytest.mark.parametrize("requested", ["3.7", "3.7.3", "2.7", ">=3.13"])
    def test_names_those_there_are(self, requested):
        with pytest.raises(EnvironmentBuildError, match=r"3\.6\.15, 3\.8\.5, .*3\.12\.1.*allow_python_drift"):
            choose(requested, SOME)

    @pytest.mark.parametrize(
        ("requested", "version"), [("3.7", "3.8.18"), ("2.7", "3.6.15"), ("3.14.1", "3.12.1"), (">=3.13", "3.12.1")]
    )
    def test_drifts_to_the_nearest_where_allowed(self, requested, version):
        choice = choose(requested, SOME, allow_drift=True)
        assert choice.interpreter.version == version
        assert "allow_python_drift" in choice.deviation

    def test_refuses_what_is_no_version(self):
        with pytest.raises(UserError, match="not a version"):
            choose("latest; rm", SOME)

    def test_takes_ours_where_nothing_is_said(self):
        ours = Interpreter("/ours", platform.python_version())
        assert choose(None, [*SOME, ours]).interpreter == ours


class TestInstalled:
    def test_finds_ours_with_its_exact_version(self):
        found = {one.path: one.version for one in installed()}
        assert found[os.path.realpath(sys.executable)] == platform.python_version()

    def test_leaves_out_what_is_too_old_or_broken(self, tmp_path, monkeypatch):
        for name, text in (("python3.4", "#!/bin/sh\nexit 3\n"), ("python3", "#!/bin/sh\necho hello\n")):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        found = installed()
        assert found
        assert all(not one.path.startswith(str(tmp_path)) for one in found)
        assert all(allows(">=3.6", one.version) for one in found)

    def test_asks_each_file_once_over_processes(self, monkeypatch):
        before = installed()
        interpreters.write_json(interpreters._cache_path(), dict(interpreters._probed))

        def never(path):
            raise AssertionError(f"{path} was started again")

        monkeypatch.setattr(interpreters, "_ask", never)
        monkeypatch.setattr(interpreters, "_probed", {})
        assert installed() == before
