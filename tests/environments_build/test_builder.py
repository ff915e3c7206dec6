"""Specification → lock → hash → built environment, with the real uv and wheels made on the fly."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from rookery.environments.building import builder, store
from rookery.environments.building.folders import EnvironmentFolder, environments_folder
from rookery.environments.specification.wanted import from_requirements, read_specification
from rookery.errors import EnvironmentBuildError, UserError
from rookery.spec.run import EnvironmentSpec
from tests.conftest import start_ticks
from tests.environments_build.wheels import sha256_of, write_wheel


def quiet(data):
    pass


def ask(built, code):
    done = subprocess.run([built.python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class TestBuild:
    def test_builds_and_streams_its_log(self, wheels):
        said = []
        built = builder.build(
            EnvironmentSpec(name="mine", conda={"dependencies": [{"pip": ["beta", "azureml-defaults"]}]}), said.append
        )
        assert (
            ask(built, "import alpha, beta, sys; print(alpha.__version__, sys.prefix)")
            == f"2.0 {os.path.dirname(built.bin_dir)}"
        )
        log = b"".join(said).decode()
        for words in ("Resolving 1 requirements", "+ beta==1.0", "import beta: ok", "Built in"):
            assert words in log
        with open(EnvironmentFolder(built.key).log, encoding="utf-8") as f:
            assert f.read() == log
        assert built.deviations == ()
        assert "azureml-defaults is met by Rookery" in built.notes[0]

    def test_the_same_again_starts_nothing(self, wheels, monkeypatch):
        wanted = from_requirements("beta")
        assert builder.known(wanted) is None
        first = builder.build(wanted, quiet)

        def never(*args, **kwargs):
            raise AssertionError(f"started {args}")

        monkeypatch.setattr(subprocess, "Popen", never)
        assert builder.known(wanted) == first
        assert builder.build(wanted, never) == first

    def test_other_words_for_the_same_lock_share_it(self, wheels, counting_uv):
        one = builder.build(from_requirements("alpha"), quiet)
        other = builder.build(from_requirements("alpha>=1"), quiet)
        assert one.key == other.key
        assert len(counting_uv.calls("venv")) == 1

    def test_what_differs_has_another_key(self, wheels):
        keys = {builder.build(from_requirements(text), quiet).key for text in ("alpha", "alpha<2", "beta")}
        assert len(keys) == 3

    def test_a_new_constraint_or_index_is_another_request(self, wheels, tmp_path, monkeypatch):
        assert ask(builder.build(from_requirements("alpha"), quiet), "import alpha; print(alpha.__version__)") == "2.0"
        (tmp_path / "constraints.txt").write_text("alpha<2\n")
        monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "constraints.txt"))
        assert builder.known(from_requirements("alpha")) is None
        assert ask(builder.build(from_requirements("alpha"), quiet), "import alpha; print(alpha.__version__)") == "1.0"

    def test_an_environment_that_was_removed_is_built_again_from_its_lock(self, wheels, counting_uv):
        wanted = from_requirements("alpha")
        built = builder.build(wanted, quiet)
        store.prune(keys=[built.key])
        assert builder.known(wanted) is None
        calls = len(counting_uv.calls("compile"))
        assert builder.build(wanted, quiet).key == built.key
        assert len(counting_uv.calls("compile")) == calls

    def test_the_requested_python_is_said_where_it_differs(self, wheels, monkeypatch):
        monkeypatch.setattr("rookery.environments.python.managed_python.PYTHON_SOURCES", [])
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        built = builder.build(
            EnvironmentSpec(conda={"dependencies": [f"python={version}.99", {"pip": ["alpha"]}]}), quiet
        )
        assert built.deviations[0].startswith(f"python: requested {version}.99, used {version}.")
        assert store.show_environment(built.key).deviations == built.deviations

    def test_a_source_of_interpreters_is_asked_once_for_the_exact_one(self, wheels, monkeypatch):
        asked = []
        monkeypatch.setattr(
            "rookery.environments.python.managed_python.PYTHON_SOURCES",
            [lambda version, log, deadline: bool(asked.append(version))],
        )
        version = f"{sys.version_info[0]}.{sys.version_info[1]}.99"
        for text in ("alpha", "beta"):
            builder.build(EnvironmentSpec(conda={"dependencies": [f"python={version}", {"pip": [text]}]}), quiet)
        assert asked == [version]

    def test_a_wheel_of_torch_at_hand_is_taken_before_a_newer_one_of_the_index(self, wheels, tmp_path, monkeypatch):
        monkeypatch.setattr("rookery.environments.python.torch_choice.has_gpu", lambda: False)
        index = tmp_path / "index" / "torch"
        index.mkdir(parents=True)
        for folder, version in ((wheels, "2.13.0+cpu"), (index, "2.15.0")):
            write_wheel(folder, "torch", version, {"torch.py": f"__version__ = '{version}'\n"})
        (index / "index.html").write_text('<a href="torch-2.15.0-py3-none-any.whl">torch-2.15.0-py3-none-any.whl</a>')
        (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = file://{tmp_path}/index\n")
        built = builder.build(from_requirements("torch"), quiet)
        assert ask(built, "import torch; print(torch.__version__)") == "2.13.0+cpu"
        assert any("find-links" in note for note in built.notes)
        newer = builder.build(from_requirements("torch>2.13"), quiet)
        assert ask(newer, "import torch; print(torch.__version__)") == "2.15.0"


class TestLocks:
    def test_a_lock_with_hashes_is_installed_as_it_is(self, wheels, counting_uv, tmp_path):
        digest = sha256_of(wheels / "alpha-1.0-py3-none-any.whl")
        path = tmp_path / "requirements.lock"
        path.write_text(f"alpha==1.0 \\\n    --hash=sha256:{digest}\n")
        built = builder.build(read_specification(str(path)), quiet)
        assert ask(built, "import alpha; print(alpha.__version__)") == "1.0"
        assert counting_uv.calls("compile") == []

    def test_a_wheel_that_is_not_the_locks_is_refused(self, wheels):
        with pytest.raises(EnvironmentBuildError, match=r"'alpha'.*(lock|hash)"):
            builder.build(from_requirements(f"alpha==1.0 --hash=sha256:{'0' * 64}"), quiet)
        assert store.list_environments() == []


class TestFailure:
    def test_names_the_package_and_is_not_tried_again(self, wheels, counting_uv):
        wanted = from_requirements("alpha\nnosuch==3")
        with pytest.raises(EnvironmentBuildError, match=r"package 'nosuch': no index has"):
            builder.build(wanted, quiet)
        calls = len(counting_uv.calls("pip"))
        assert calls
        for _ in range(3):
            with pytest.raises(EnvironmentBuildError, match=r"package 'nosuch'.*environment_retry_s=300"):
                builder.build(wanted, quiet)
        assert len(counting_uv.calls("pip")) == calls

    def test_is_tried_again_when_told_to_or_later(self, wheels, monkeypatch):
        wanted = from_requirements("later")
        with pytest.raises(EnvironmentBuildError):
            builder.build(wanted, quiet)
        write_wheel(wheels, "later", "1.0", {"later.py": ""})
        with pytest.raises(EnvironmentBuildError, match="ago"):
            builder.build(wanted, quiet)
        monkeypatch.setenv("ROOKERY_ENVIRONMENT_RETRY_S", "0.001")
        assert builder.build(wanted, quiet) == builder.build(wanted, quiet, again=True)

    def test_contradicting_requirements(self, wheels):
        with pytest.raises(EnvironmentBuildError, match=r"package '(gamma|alpha)'.*gamma"):
            builder.build(from_requirements("gamma\nalpha==2.0"), quiet)

    def test_what_cannot_be_imported_leaves_nothing_built(self, wheels):
        write_wheel(
            wheels, "broken", "1.0", {"broken.py": "raise ImportError('libx.so.1: cannot open shared object file')\n"}
        )
        with pytest.raises(EnvironmentBuildError, match=r"'broken' is installed but cannot be imported.*libx\.so\.1"):
            builder.build(from_requirements("broken\nalpha"), quiet)
        assert store.list_environments() == []
        assert builder.known(from_requirements("broken\nalpha")) is None

    def test_the_time_limit_names_its_setting(self, wheels, counting_uv, monkeypatch):
        counting_uv.stall("compile")
        monkeypatch.setenv("ROOKERY_ENVIRONMENT_BUILD_TIMEOUT_S", "0.5")
        with pytest.raises(EnvironmentBuildError, match=r"environment_build_timeout_s=0\.5") as caught:
            builder.build(from_requirements("alpha"), quiet)
        assert caught.value.details == {"step": "timeout"}

    def test_a_home_that_cannot_be_written_is_named(self, wheels, home):
        home.mkdir()
        (home / "environments").write_text("in the way")
        with pytest.raises(EnvironmentBuildError, match=r"cannot be kept in .*environments.*ROOKERY_HOME"):
            builder.build(from_requirements("alpha"), quiet)

    def test_a_missing_uv_is_said_and_not_remembered(self, wheels, monkeypatch):
        with monkeypatch.context() as m:
            m.setenv("ROOKERY_UV", "/no/such/uv")
            with pytest.raises(EnvironmentBuildError, match="ROOKERY_UV=/no/such/uv"):
                builder.build(from_requirements("alpha"), quiet)
        assert builder.build(from_requirements("alpha"), quiet).key

    def test_what_only_conda_has_is_named(self, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONDA", "never")
        with pytest.raises(EnvironmentBuildError, match="only conda has gxx_linux-64=9"):
            builder.check(EnvironmentSpec(conda={"dependencies": ["numpy", "gxx_linux-64=9"]}))

    def test_hostile_specifications_are_refused_at_submit(self):
        with pytest.raises(UserError, match="requirement_sources"):
            builder.check(EnvironmentSpec(conda={"dependencies": [{"pip": ["x @ git+https://example.org/x"]}]}))

    def test_passwords_stay_out_of_log_and_error(self, tmp_path, monkeypatch):
        for name, value in (
            ("PIP_CONFIG_FILE", os.devnull),
            ("PIP_INDEX_URL", "http://me:hunter2@127.0.0.1:9/simple"),
            ("UV_HTTP_RETRIES", "0"),
        ):
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        said = []
        with pytest.raises(EnvironmentBuildError, match="cannot be reached") as caught:
            builder.build(from_requirements("six"), said.append)
        assert "hunter2" not in str(caught.value)
        for folder, _, names in os.walk(environments_folder()):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    assert b"hunter2" not in f.read()


class TestTogether:
    def test_twenty_threads_build_once(self, wheels, counting_uv):
        results, logs = [], [[] for _ in range(20)]
        start = threading.Barrier(20)

        def one(log):
            start.wait()
            results.append(builder.build(from_requirements("beta"), log.append))

        threads = [threading.Thread(target=one, args=(log,)) for log in logs]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
        assert len(results) == 20
        assert len({r.python for r in results}) == 1
        assert len(counting_uv.calls("venv")) == 1
        assert len(counting_uv.calls("install")) == 1
        waited = [b"".join(log) for log in logs if b"waiting for it" in b"".join(log)]
        assert waited
        assert all(b"Built in" in log for log in waited)  # those who waited heard it all

    @pytest.mark.slow
    def test_twenty_processes_build_once(self, wheels, counting_uv):
        code = "from rookery.environments.building import builder; from rookery.environments.specification.wanted import from_requirements as r; print(builder.build(r('beta'), lambda d: None).key)"
        processes = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(20)
        ]
        keys = {p.communicate(timeout=200)[0].strip() for p in processes}
        assert len(keys) == 1
        assert all(p.returncode == 0 for p in processes)
        assert len(counting_uv.calls("venv")) == 1

    def test_a_failure_reaches_all_who_wait(self, wheels, counting_uv):
        errors = []

        def one():
            try:
                builder.build(from_requirements("nosuch"), quiet)
            except EnvironmentBuildError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=one) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
        assert len(errors) == 6
        assert all("package 'nosuch'" in e for e in errors)
        assert 1 <= len(counting_uv.calls("compile")) <= 3  # one build's tries, with and without what it prefers

    @pytest.mark.slow
    @pytest.mark.parametrize("step", ["compile", "pip install"])
    def test_a_builder_killed_midway_leaves_nothing_that_looks_built(self, wheels, counting_uv, step):
        counting_uv.stall(step)
        code = textwrap.dedent(
            """
            from rookery.environments.building import builder
            from rookery.environments.specification.wanted import from_requirements
            builder.build(from_requirements("beta"), lambda data: None)
            """
        )
        process = subprocess.Popen([sys.executable, "-c", code])
        try:
            wait_for(counting_uv.is_stalled)
            wait_for(live_programs)  # noted when it has been started
            orphans = live_programs()
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        assert builder.known(from_requirements("beta")) is None
        assert store.list_environments() == []
        counting_uv.go_on()
        built = builder.build(from_requirements("beta"), quiet)
        assert ask(built, "import beta; print('works')") == "works"
        assert len(store.list_environments()) == 1
        assert all(start_ticks(pid) != ticks for pid, ticks in orphans.items())  # and its uv is not left running


def live_programs():
    """Those that builders have noted, and when they started."""
    folder = os.path.join(environments_folder(), "locks")
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as f, contextlib.suppress(ValueError):  # it may just be written
            pid = json.loads(f.read() or "{}").get("program", 0)
            if start_ticks(pid) != -1:
                found[pid] = start_ticks(pid)
    return found


class TestSharing:
    def test_a_second_one_that_differs_in_one_package_is_nearly_free(self, wheels):
        modules = {f"big/m{n}.py": f"X = {list(range(n, n + 400))}\n" for n in range(60)}
        modules["big/__init__.py"] = "".join(f"from big import m{n}\n" for n in range(60))
        modules["big/data.bin"] = os.urandom(12_000_000)
        write_wheel(wheels, "big", "1.0", modules)
        first = builder.build(from_requirements("big"), quiet)
        said = []
        second = builder.build(from_requirements("big\nalpha"), said.append)
        assert first.key != second.key
        disk = store.show_environment(second.key).disk
        assert disk.own_bytes < 1_000_000
        assert disk.shared_bytes > 12_000_000
        assert "Shared the bytecode of 61 files" in b"".join(said).decode()
        assert ask(second, "import big.m3; print(big.m3.__file__, big.m3.__cached__)").count(second.key) == 2

    def test_bytecode_shared_shows_the_right_file_in_tracebacks(self, wheels):
        write_wheel(wheels, "raising", "1.0", {"raising.py": "def go():\n    raise ValueError('here')\n"})
        builder.build(from_requirements("raising"), quiet)
        second = builder.build(from_requirements("raising\nalpha"), quiet)
        code = (
            "import raising, traceback\ntry:\n    raising.go()\nexcept ValueError:\n    print(traceback.format_exc())"
        )
        assert f"{second.key}/env/lib" in ask(second, code)
