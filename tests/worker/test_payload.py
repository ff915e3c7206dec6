"""The payload in real processes, on every interpreter of this machine."""

from __future__ import annotations

import glob
import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import pytest

from rookery.engine.payload import ensure_payload
from rookery.spec.paths import WorkspacePaths

VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def interpreter(version):
    found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python"))
    return found[0] if found else None


PYTHONS = [pytest.param(path, id=v) for v, path in ((v, interpreter(v)) for v in VERSIONS) if path]


@pytest.fixture(scope="module")
def payload(tmp_path_factory):
    return ensure_payload(WorkspacePaths(str(tmp_path_factory.mktemp("ws"))))


@pytest.fixture
def place(tmp_path):
    for name in ("journal", "uploads", "errors"):
        (tmp_path / name).mkdir()
    return tmp_path


def start(python, payload, place, code, extra_path=(), **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ROOKERY"))}
    env.update(
        PYTHONPATH=os.pathsep.join([os.path.join(payload, "first"), *map(str, extra_path)]),
        ROOKERY_RUN_ID="r1",
        ROOKERY_EXPERIMENT="e1",
        ROOKERY_AGENT_SOCKET=str(place / "no.sock"),
        ROOKERY_JOURNAL_DIR=str(place / "journal"),
        ROOKERY_UPLOADS_DIR=str(place / "uploads"),
        ROOKERY_ERRORS_DIR=str(place / "errors"),
        ROOKERY_PAYLOAD=payload,
    )
    env.update(variables)
    script = place / "script.py"
    script.write_text(textwrap.dedent(code))
    return subprocess.run(
        [python, str(script)], env=env, capture_output=True, text=True, timeout=60, cwd=place, check=False
    )


class TestBuild:
    def test_built_once_without_bytecode(self, tmp_path):
        paths = WorkspacePaths(str(tmp_path))
        folder = ensure_payload(paths)
        assert sorted(os.listdir(folder)) == ["first", "offered"]
        assert "azureml" in os.listdir(os.path.join(folder, "offered"))
        assert not [f for f in glob.glob(folder + "/**/*", recursive=True) if "__pycache__" in f]
        before = os.stat(folder).st_mtime_ns
        assert ensure_payload(paths) == folder
        assert os.stat(folder).st_mtime_ns == before
        assert os.listdir(paths.payloads) == [os.path.basename(folder)]


@pytest.mark.parametrize("python", PYTHONS)
class TestEveryInterpreter:
    def test_context_logs_records_and_hands_over(self, python, payload, place):
        code = """
            from rookery.worker import Run
            run = Run.get_context(allow_offline=False)
            assert run is Run.get_context()
            run.log("x", 1.5, step=2); run.log("x", 3); run.log_row("r", a=1); run.tag("k", "v")
            with run.child_run("kid") as child:
                child.log("y", "text")
            open("f", "w").write("bytes"); run.upload_file("f", "f")
            import os
            pid = os.fork()
            if pid == 0:
                Run.get_context().log("z", 1)
                os._exit(0)
            os.waitpid(pid, 0)
            print(run.id, run.experiment.name)
        """
        done = start(python, payload, place, code)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "r1 e1\n"
        assert len(list((place / "journal").iterdir())) == 2
        assert [p.read_text() for p in (place / "uploads").iterdir()] == ["bytes"]

    def test_uncaught_exception_is_recorded(self, python, payload, place):
        done = start(python, payload, place, "def f():\n    raise ValueError('bad shape')\nf()")
        assert done.returncode == 1
        assert "ValueError: bad shape" in done.stderr
        (file,) = (place / "errors").glob("*.json")
        data = json.loads(file.read_text())
        assert (data["type"], data["message"]) == ("ValueError", "bad shape")
        assert "in f" in data["traceback"]
        assert data["argv"] == [str(place / "script.py")]

    def test_offered_azureml_imports(self, python, payload, place):
        done = start(
            python,
            payload,
            place,
            "import azureml, rookery\nprint(azureml.__file__)\nprint(rookery.__file__)",
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert all(line.startswith(os.path.join(payload, "offered")) for line in done.stdout.splitlines())


class TestRecorder:
    def test_exit_with_a_text(self, payload, place):
        done = start(sys.executable, payload, place, "import sys\nsys.exit('no data')")
        assert (done.returncode, done.stderr) == (1, "no data\n")
        (file,) = (place / "errors").glob("*.json")
        assert json.loads(file.read_text())["message"] == "no data"

    def test_keyboard_interrupt_ends_by_signal_as_without_us(self, payload, place):
        done = start(
            sys.executable, payload, place, "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt"
        )
        assert (done.returncode, done.stdout) == (-signal.SIGINT, "bye\n")
        (file,) = (place / "errors").glob("*.json")
        assert json.loads(file.read_text())["type"] == "KeyboardInterrupt"

    def test_exit_with_a_number_is_no_error(self, payload, place):
        assert start(sys.executable, payload, place, "import sys\nsys.exit(3)").returncode == 3
        assert list((place / "errors").glob("*.json")) == []

    def test_crash_leaves_the_python_stack(self, payload, place):
        done = start(sys.executable, payload, place, "import ctypes\ndef f():\n    ctypes.string_at(0)\nf()")
        assert done.returncode == -11
        (file,) = (place / "errors").glob("*.stack")
        assert "line 3 in f" in file.read_text()

    def test_a_hook_of_the_script_is_chained(self, payload, place):
        code = "import sys\nold = sys.excepthook\nsys.excepthook = lambda *a: (print('mine'), old(*a))\n1 / 0"
        assert start(sys.executable, payload, place, code).stdout == "mine\n"
        assert list((place / "errors").glob("*.json"))

    def test_folder_that_is_gone_changes_nothing(self, payload, place):
        done = start(sys.executable, payload, place, "1 / 0", ROOKERY_ERRORS_DIR="/no/such/folder")
        assert done.returncode == 1
        assert done.stderr.count("ZeroDivisionError") == 1


class TestSitecustomize:
    def test_existing_one_is_chained(self, payload, place, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        (other / "sitecustomize.py").write_text("print('theirs first')\nFACT = 5")
        done = start(sys.executable, payload, place, "import sitecustomize\nprint(sitecustomize.FACT)", [other])
        assert done.stdout == "theirs first\n5\n"

    def test_nothing_is_imported_for_it(self, payload, place):
        heavy = "json re socket http.client traceback typing importlib.util torch numpy rookery azureml"
        code = f"import sys\nprint([m for m in {heavy.split()!r} if m in sys.modules])"
        bare = subprocess.run(
            [interpreter("3.11") or sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        done = start(interpreter("3.11") or sys.executable, payload, place, code)
        assert done.stdout == bare.stdout


def family(folder, *parts):
    for part in ("azureml", *parts):
        (folder / part).mkdir(parents=True)
        (folder / part / "__init__.py").write_text("WHO = 'theirs'\n")
    return folder


class TestMicrosoftsFamily:
    CODE = "import azureml\nprint(getattr(azureml, 'WHO', 'ours'))"

    def test_with_core_it_is_theirs(self, payload, place, tmp_path):
        theirs = family(tmp_path / "site", "azureml/core", "azureml/mlflow")
        done = start(sys.executable, payload, place, self.CODE + "\nimport azureml.core, azureml.mlflow", [theirs])
        assert done.stdout == "theirs\n"
        assert re.fullmatch(r"rookery: `azureml` is the one installed .*\n", done.stderr)

    def test_parts_only_means_wholly_ours(self, payload, place, tmp_path):
        theirs = family(tmp_path / "site", "azureml/train_something")
        code = self.CODE + "\ntry:\n    import azureml.train_something\nexcept ImportError:\n    print('not merged')"
        done = start(sys.executable, payload, place, code, [theirs])
        assert done.stdout == "ours\nnot merged\n"
        assert "is Rookery's" in done.stderr

    @pytest.mark.parametrize(("wish", "who"), [("ours", "ours"), ("theirs", "theirs")])
    def test_wish(self, payload, place, tmp_path, wish, who):
        theirs = family(tmp_path / "site", "azureml/core")
        done = start(sys.executable, payload, place, self.CODE, [theirs], ROOKERY_AZUREML=wish)
        assert done.stdout == who + "\n"

    def test_said_once_for_all_processes(self, payload, place, tmp_path):
        theirs = family(tmp_path / "site", "azureml/core")
        code = "import azureml, subprocess, sys\nsubprocess.check_call([sys.executable, '-c', 'import azureml'])"
        assert start(sys.executable, payload, place, code, [theirs]).stderr.count("rookery:") == 1


class TestTorchvisionHook:
    @pytest.mark.slow
    def test_imports_beside_a_cpu_torch(self, payload, place):
        """Only where torch and torchvision are; elsewhere there is nothing to show."""
        if not glob.glob(os.path.join(sys.prefix, "lib", "python*", "site-packages", "torchvision", "__init__.py")):
            pytest.skip("torchvision is not installed")
        code = """
            import torchvision, torch
            from torchvision.transforms import v2
            model = torchvision.models.resnet18(num_classes=2).eval()
            print(tuple(model(torch.zeros(1, 3, 64, 64)).shape), type(torchvision.__spec__.loader).__name__)
        """
        done = start(sys.executable, payload, place, code)
        assert done.stdout == "(1, 2) SourceFileLoader\n", done.stderr
