"""From a specification to an interpreter."""

from __future__ import annotations

import os
import sys

import pytest

from rookery import environments
from rookery.environments import interpreter
from rookery.errors import EnvironmentBuildError, UserError
from rookery.spec.run import EnvironmentSpec


@pytest.fixture
def make_program(tmp_path):
    def make(text: str, mode: int = 0o755) -> str:
        path = tmp_path / "odd folder's bin" / "python"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return make


@pytest.fixture
def log():
    return []


class TestPrepare:
    def test_the_submitting_interpreter_needs_no_trial(self, log):
        built = environments.prepared(EnvironmentSpec(python=sys.executable, variables={"A": "1"}))
        assert built is not None
        assert (built.python, built.bin_dir, built.variables) == (
            sys.executable,
            os.path.dirname(sys.executable),
            {"A": "1"},
        )
        assert environments.prepare(EnvironmentSpec(python=sys.executable), log.append).python == sys.executable
        assert log == []

    def test_another_one_is_tried_once_until_it_changes(self, make_program, tmp_path, log):
        count = tmp_path / "count"
        path = make_program(f'#!/bin/sh\necho x >> "{count}"\nexec {sys.executable} "$@"\n')
        spec = EnvironmentSpec(user_managed=True, python=path)
        assert environments.prepared(spec) is None
        assert environments.prepare(spec, log.append).python == path
        assert environments.prepared(spec) == environments.prepare(spec, log.append)
        assert count.read_text() == "x\n"
        os.utime(path, ns=(1, 1))
        environments.prepare(spec, log.append)
        assert count.read_text() == "x\nx\n"

    def test_a_bare_name_is_looked_up_on_path_and_that_is_said(self, make_program, monkeypatch, log):
        path = make_program(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        monkeypatch.setenv("PATH", os.path.dirname(path) + ":/usr/bin:/bin")
        assert environments.prepare(EnvironmentSpec(user_managed=True, python="python"), log.append).python == path
        assert path in b"".join(log).decode()

    @pytest.mark.parametrize(
        ("text", "mode", "words"),
        [
            ("#!/bin/sh\necho 2.7.18\n", 0o755, "3.6 or newer"),
            ("#!/bin/sh\necho broken >&2; exit 3\n", 0o755, "exit code 3, 'broken'"),
            ("#!/no/such/shell\n", 0o755, "cannot be started"),
            ("text", 0o644, "cannot be started"),
        ],
    )
    def test_what_is_no_python_is_named(self, make_program, log, text, mode, words):
        path = make_program(text, mode)
        with pytest.raises(EnvironmentBuildError, match=words) as caught:
            environments.prepare(EnvironmentSpec(name="mine", user_managed=True, python=path), log.append)
        assert path in str(caught.value)
        assert "'mine'" in str(caught.value)

    def test_one_that_never_answers_is_given_up(self, make_program, monkeypatch, log):
        monkeypatch.setattr(interpreter, "TIMEOUT_S", 0.2)
        path = make_program("#!/bin/sh\nexec sleep 600\n")
        with pytest.raises(EnvironmentBuildError, match="did not answer"):
            environments.prepare(EnvironmentSpec(user_managed=True, python=path), log.append)

    @pytest.mark.parametrize(
        ("given", "words"), [("/no/such/python", "does not exist"), ("no-such-python", "is not on PATH")]
    )
    def test_a_missing_one_is_named(self, given, words, log):
        with pytest.raises(EnvironmentBuildError, match=f"'{given}' {words}"):
            environments.prepare(EnvironmentSpec(user_managed=True, python=given), log.append)


class TestCheck:
    def test_what_can_be_built_passes_and_what_never_can_is_refused(self):
        good = EnvironmentSpec(name="birds", python="python", conda={"dependencies": ["python=3.11", {"pip": ["six"]}]})
        environments.check(good)
        bad = EnvironmentSpec(name="birds", python="python", conda={"dependencies": [{"pip": ["git+https://x/y"]}]})
        with pytest.raises(UserError, match=r"git\+"):
            environments.check(bad)

    def test_user_managed_ones_may_list_what_they_like(self):
        environments.check(EnvironmentSpec(python="python", user_managed=True, conda={"dependencies": []}))
        environments.check(EnvironmentSpec(python="python"))
