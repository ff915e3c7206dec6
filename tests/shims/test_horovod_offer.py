"""A run that has no Horovod finds ours; an installed one wins; ours is in the wheel and can be installed by itself."""

from __future__ import annotations

import glob
import importlib.util
import os
import subprocess
import sys
import venv
import zipfile

import pytest

from rookery.engine.payload import ensure_payload
from rookery.spec.paths import WorkspacePaths
from tests.shims.horovod_world import ROOT, clean_environment

PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))) or [sys.executable]
SHOW = "import horovod; print(horovod.__version__); print(horovod.__file__)"


@pytest.fixture(scope="module")
def payload(tmp_path_factory):
    return ensure_payload(WorkspacePaths(str(tmp_path_factory.mktemp("ws"))))


def start(python, payload, code, *more_path):
    path = os.pathsep.join([os.path.join(payload, "first"), *map(str, more_path)])
    variables = {**clean_environment(), "PYTHONPATH": path, "ROOKERY_PAYLOAD": payload, "ROOKERY_RUN_ID": "r1"}
    return subprocess.run([python, "-c", code], env=variables, capture_output=True, text=True, timeout=60, check=False)


class TestOffer:
    @pytest.mark.parametrize("python", PYTHONS, ids=lambda p: p.split("/")[-3])
    def test_every_python_compiles_all_of_it(self, python, payload):
        code = (
            "import glob, sys\n"
            "files = glob.glob(sys.argv[1] + '/**/*.py', recursive=True)\n"
            "[compile(open(f, encoding='utf-8').read(), f, 'exec') for f in files]\n"
            "print(len(files))"
        )
        folder = os.path.join(payload, "offered", "horovod")
        done = subprocess.run([python, "-c", code, folder], capture_output=True, text=True, timeout=60, check=False)
        assert (done.stderr, int(done.stdout) > 20) == ("", True)

    @pytest.mark.parametrize("python", PYTHONS, ids=lambda p: p.split("/")[-3])
    def test_ours_where_there_is_none(self, python, payload):
        done = start(python, payload, SHOW)
        assert done.stderr == ""
        assert done.stdout.splitlines()[0] == "0.28.1+rookery"
        assert done.stdout.splitlines()[1].startswith(os.path.join(payload, "offered"))

    def test_an_installed_one_wins(self, payload, tmp_path):
        real = tmp_path / "site"
        (real / "horovod").mkdir(parents=True)
        (real / "horovod" / "__init__.py").write_text("__version__ = '0.19.5'\n")
        done = start(sys.executable, payload, SHOW + "\nimport horovod.torch", real)
        assert done.stdout.splitlines() == ["0.19.5", str(real / "horovod" / "__init__.py")]
        assert "No module named 'horovod.torch'" in done.stderr  # nothing of ours is mixed in

    def test_other_frameworks_are_refused_in_words(self, payload):
        done = start(sys.executable, payload, "import horovod.tensorflow")
        assert (
            "ImportError: horovod.tensorflow is not part of Rookery's horovod, which has horovod.torch only"
            in done.stderr
        )

    def test_the_wheel_takes_it_along(self):
        with open(ROOT / "pyproject.toml") as f:
            assert '"shims/horovod" = "rookery/_shims/horovod"' in f.read()


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
class TestPip:
    """The real thing, in a throw-away environment. pip fetches hatchling; skipped where it cannot."""

    def test_the_wheel_holds_the_package(self, tmp_path):
        venv.create(tmp_path / "an environment", with_pip=True, symlinks=True)
        python = str(tmp_path / "an environment" / "bin" / "python")
        command = [
            python,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "-q",
            "-w",
            str(tmp_path),
            str(ROOT / "shims/horovod-dist"),
        ]
        done = subprocess.run(
            command, env=clean_environment(), capture_output=True, text=True, timeout=240, check=False
        )
        if "hatchling" in done.stderr and "No matching distribution" in done.stderr:
            pytest.skip("hatchling cannot be fetched here")
        assert done.returncode == 0, done.stderr
        (wheel,) = tmp_path.glob("rookery_horovod-*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        assert {"horovod/__init__.py", "horovod/torch/__init__.py", "horovod/torch/elastic/state.py"} <= set(names)
        assert not [name for name in names if "__pycache__" in name or name.startswith("azureml")]


WORLD = load(str(ROOT / "shims/horovod/torch/world.py"))
MPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}


class TestWorld:
    def found(self, **environ):
        world = WORLD.find_world(environ)
        return world.launcher, world.rank, world.size, world.local_rank, world.master, world.port

    def test_nobody_launched_it(self):
        assert self.found() == ("none", 0, 1, 0, None, None)

    def test_torchrun(self):
        given = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "a", "MASTER_PORT": "6105"}
        assert self.found(**given) == ("torch", 1, 2, 0, "a", 6105)

    def test_mpirun_comes_first(self):
        given = {**MPI, "RANK": "0", "WORLD_SIZE": "1", "HOROVOD_RANK": "3", "HOROVOD_SIZE": "9"}
        assert self.found(**given, MASTER_ADDR="b", MASTER_PORT="7000") == ("mpirun", 1, 4, 0, "b", 7000)

    def test_horovod_before_torch(self):
        given = {"HOROVOD_RANK": "3", "HOROVOD_SIZE": "9", "RANK": "0", "WORLD_SIZE": "1"}
        assert self.found(**given, MASTER_ADDR="b", MASTER_PORT="7000") == ("horovod", 3, 9, None, "b", 7000)

    def test_azures_master_node(self):
        found = self.found(**MPI, AZ_BATCH_MASTER_NODE="10.0.0.4:6000", OMPI_MCA_ess_base_jobid="77")
        assert found[4] == "10.0.0.4"
        assert found[5] == self.found(**MPI, OMPI_MCA_ess_base_jobid="77")[5]  # alike wherever it is asked

    def test_a_bare_mpirun_on_one_machine(self):
        one = self.found(**MPI, OMPI_COMM_WORLD_LOCAL_SIZE="4", OMPI_MCA_ess_base_jobid="77")
        assert one[4] == "127.0.0.1"
        assert 10000 <= one[5] < 30000
        assert one[5] != self.found(**MPI, OMPI_MCA_ess_base_jobid="78")[5]
        assert self.found(**MPI, PMIX_NAMESPACE="x")[4] == "127.0.0.1"

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({**MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, "nothing says where rank 0 is"),
            ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_PORT is not set"),
            ({"RANK": "2", "WORLD_SIZE": "2"}, "cannot be"),
            ({"RANK": "x", "WORLD_SIZE": "2"}, "RANK='x' is no whole number"),
            (
                {"HOROVOD_RANK": "0", "HOROVOD_SIZE": "2", "HOROVOD_GLOO_RENDEZVOUS_ADDR": "h"},
                "started by horovodrun",
            ),
        ],
    )
    def test_what_cannot_be_is_said(self, given, said):
        with pytest.raises(RuntimeError, match=said):
            WORLD.find_world(given)

    def test_loopback(self):
        for master, device in (("127.0.0.2", "lo"), ("localhost", "lo"), ("10.0.0.4", None)):
            environ = {}
            WORLD.use_loopback_where_master_is(WORLD.World(master=master), environ)
            assert environ.get("GLOO_SOCKET_IFNAME") == device
        environ = {"GLOO_SOCKET_IFNAME": "eth7"}
        WORLD.use_loopback_where_master_is(WORLD.World(master="127.0.0.1"), environ)
        assert environ == {"GLOO_SOCKET_IFNAME": "eth7"}
