"""Which interpreter does conda's work, and what is said where there is none; when conda is needed at all."""

import os
import sys
import time

import pytest

from rookery.environments.conda import program as conda_program
from rookery.environments.conda.program import find_conda_python, plain_runner
from rookery.environments.conda.python import conda_pythons, from_conda_channel, python_from_channel
from rookery.environments.conda.solve import conda_mode, needs_conda, python_spec, solve_conda
from rookery.environments.specification.wanted import Wanted, from_conda
from rookery.errors import ConfigError, EnvironmentBuildError
from tests.environments_conda.channel_server import silent
from tests.environments_conda.conftest import VERSION


@pytest.fixture
def bare(monkeypatch):
    """As where Rookery's own environment has no py-rattler."""
    monkeypatch.setattr(conda_program, "_is_beside_us", lambda: False)


class TestFindCondaPython:
    def test_ours_where_it_has_py_rattler(self, monkeypatch):
        monkeypatch.setattr(conda_program, "_is_beside_us", lambda: True)
        monkeypatch.setenv("ROOKERY_CONDA_PYTHON", "/not/asked")
        assert find_conda_python() == sys.executable

    @pytest.mark.usefixtures("bare")
    def test_says_how_to_get_it(self, log):
        with pytest.raises(EnvironmentBuildError, match=r"pip install 'rookery\[conda\]'.*ROOKERY_CONDA_PYTHON"):
            solve_conda(Wanted(channels=("/nowhere",)), log)

    @pytest.mark.usefixtures("bare")
    def test_a_setting_that_is_no_program(self, monkeypatch, tmp_path):
        monkeypatch.setenv("ROOKERY_CONDA_PYTHON", str(tmp_path / "none"))
        with pytest.raises(EnvironmentBuildError, match="is not an executable file"):
            find_conda_python()

    @pytest.mark.usefixtures("bare")
    def test_a_setting_whose_interpreter_lacks_it(self, monkeypatch, log, tmp_path):
        given = tmp_path / "python without"  # -S: whatever is installed beside it is not seen
        given.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
        given.chmod(0o755)
        monkeypatch.setenv("ROOKERY_CONDA_PYTHON", str(given))
        with pytest.raises(EnvironmentBuildError, match=f"conda_python={given} does not have it"):
            solve_conda(Wanted(channels=("/nowhere",)), log)

    @pytest.mark.usefixtures("bare")
    def test_a_child_that_dies_is_told_with_its_last_words(self, monkeypatch, log, tmp_path):
        given = tmp_path / "broken"
        given.write_text("#!/bin/sh\necho 'Illegal instruction' >&2\nexit 132\n")
        given.chmod(0o755)
        monkeypatch.setenv("ROOKERY_CONDA_PYTHON", str(given))
        with pytest.raises(EnvironmentBuildError, match=r"exit code 132.*Illegal instruction"):
            solve_conda(Wanted(channels=("/nowhere",)), log)

    @pytest.mark.usefixtures("with_rattler")
    def test_the_time_limit_of_the_build_ends_the_child(self, log):
        with silent() as where, pytest.raises(EnvironmentBuildError, match="environment_build_timeout_s"):
            solve_conda(Wanted(channels=(f"http://{where}",)), log, plain_runner(log, time.monotonic() + 1.0))


class TestNeedsConda:
    def wanted(self, *dependencies):
        return from_conda({"dependencies": list(dependencies)})

    @pytest.mark.parametrize(
        ("dependencies", "native", "auto"),
        [
            (["python=3.8", {"pip": ["numpy"]}], True, False),
            (["python=3.8", "numpy=1.19", "pytorch=1.6", "cudatoolkit=10.1"], True, False),
            (["python=3.8", "numpy=1.19", "ffmpeg"], True, True),
            ([{"pip": ["numpy"]}], False, False),
        ],
    )
    def test_only_where_the_index_has_no_equal_or_the_person_asks(self, dependencies, native, auto):
        wanted = self.wanted(*dependencies)
        assert needs_conda(wanted, "native") is native
        assert needs_conda(wanted, "auto") is auto
        assert needs_conda(wanted, "never") is False

    def test_the_setting_is_checked(self, monkeypatch):
        assert conda_mode() == "auto"
        monkeypatch.setenv("ROOKERY_CONDA", "Native")
        assert conda_mode() == "native"
        monkeypatch.setenv("ROOKERY_CONDA", "sometimes")
        with pytest.raises(ConfigError, match="native, auto, never"):
            conda_mode()

    @pytest.mark.parametrize(
        ("condition", "spec"),
        [(None, "python"), ("3.6.2", "python=3.6.2"), (">=3.9,<3.12", "python >=3.9,<3.12"), ("3.8.*", "python=3.8.*")],
    )
    def test_python_in_condas_words(self, condition, spec):
        assert python_spec(condition) == spec


class TestPythonFromChannel:
    @pytest.mark.usefixtures("with_rattler")
    def test_is_installed_once_where_the_search_finds_it(self, channel, log):
        deadline = time.monotonic() + 200
        path = python_from_channel(VERSION, [channel.url], log, deadline)
        assert path is not None
        assert os.access(path, os.X_OK)
        assert list(conda_pythons()) == [path]
        inode = os.stat(os.path.dirname(path)).st_ino
        assert python_from_channel(VERSION, [channel.url], log, deadline) == path
        assert os.stat(os.path.dirname(path)).st_ino == inode

    @pytest.mark.usefixtures("with_rattler")
    def test_what_a_build_that_died_left_is_made_anew(self, channel, log):
        path = python_from_channel(VERSION, [channel.url], log, time.monotonic() + 200)
        prefix = os.path.dirname(os.path.dirname(path))
        os.unlink(os.path.join(prefix, "built.json"))
        os.unlink(path)
        assert list(conda_pythons()) == []
        assert python_from_channel(VERSION, [channel.url], log, time.monotonic() + 200) == path
        assert os.path.exists(path)

    @pytest.mark.usefixtures("with_rattler")
    def test_none_where_no_channel_has_it_and_the_log_says_so(self, channel, log):
        assert python_from_channel("3.6.2", [channel.url], log, time.monotonic() + 200) is None
        assert "no version meets 'python 3.6.2.*'" in log.text

    @pytest.mark.usefixtures("with_rattler")
    def test_as_a_source_it_asks_the_persons_channels(self, channel, log, quiet_conda, monkeypatch):
        (quiet_conda / ".condarc").write_text(f'channels: ["{channel.url}"]\n')
        monkeypatch.setenv("ROOKERY_CONDA", "never")
        assert from_conda_channel(VERSION, log, time.monotonic() + 200) is False
        assert log.text == ""
        monkeypatch.delenv("ROOKERY_CONDA")
        assert from_conda_channel(VERSION, log, time.monotonic() + 200) is True

    @pytest.mark.usefixtures("bare")
    def test_as_a_source_it_is_silent_without_py_rattler(self, log):
        assert from_conda_channel(VERSION, log, time.monotonic() + 200) is False
        assert log.text == ""
