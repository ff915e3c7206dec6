"""The whole way: a specification that only conda can meet, solved, built, with pip's packages on top, and known."""

import json
import os
import subprocess

import pytest

from rookery.environments.building import builder
from rookery.environments.building.folders import EnvironmentFolder
from rookery.environments.conda.build import without_given
from rookery.environments.specification.wanted import Wanted, from_conda
from rookery.errors import EnvironmentBuildError
from tests.environments_build.wheels import write_wheel
from tests.environments_conda.channel_maker import CondaPackage
from tests.environments_conda.channel_server import closed_port
from tests.environments_conda.conftest import VERSION


@pytest.fixture(autouse=True)
def wheels(tmp_path, monkeypatch):
    """The only place where pip's packages are found."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    write_wheel(folder, "alpha", "1.0", {"alpha.py": "import six\n"}, requires=["six"])
    write_wheel(folder, "six", "1.5", {"six.py": "FROM = 'index'\n"})
    write_wheel(folder, "six", "1.6", {"six.py": "FROM = 'index'\n"})
    return folder


@pytest.fixture
def wanted(channel):
    def make(*dependencies, channels=(channel.url,)):
        plain = from_conda({"name": "birds", "dependencies": list(dependencies)})
        return Wanted(plain.python, plain.conda, tuple(channels), plain.pip, name="birds")

    return make


def six(version):
    """conda's six, as conda packages are: with the metadata that pip reads."""
    info = f"site-packages/six-{version}.dist-info"
    files = {
        "site-packages/six.py": "FROM = 'conda'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: six\nVersion: {version}\n",
        f"{info}/RECORD": f"six.py,,\n{info.partition('/')[2]}/METADATA,,\n",
        f"{info}/INSTALLER": "conda",
    }
    return CondaPackage("six", version, files, ("python",), "python")


def run(built, code):
    done = subprocess.run([built.python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.usefixtures("with_rattler")
class TestBuild:
    def test_conda_below_and_pip_on_top(self, wanted, log):
        spec = wanted("greet", "active", {"pip": ["alpha"]})
        built = builder.build(spec, log)
        assert run(built, "import greet, alpha, six; print(six.FROM); greet.main()") == "index\nhello from conda"
        folder = EnvironmentFolder(built.key)
        assert built.variables["CONDA_PREFIX"] == folder.env
        assert built.variables["ACTIVE_DATA"] == f"{folder.env}/share"
        assert run(built, "import sys; print(sys.prefix)") == folder.env
        assert "Solved: 4 conda packages" in log.text
        with open(folder.lock) as f:
            kept = json.load(f)
        assert kept["python_version"] == VERSION
        assert len(kept["conda"]) == 4

    def test_is_known_afterwards_and_starts_nothing(self, wanted, log, monkeypatch):
        spec = wanted("greet")
        assert builder.known(spec) is None
        built = builder.build(spec, log)
        monkeypatch.setattr(subprocess, "Popen", None)
        assert builder.known(spec) == built
        assert builder.known(wanted("words")) is None

    def test_what_conda_has_is_not_installed_again(self, wanted, channel, log):
        channel.add(six("1.5"))
        built = builder.build(wanted("greet", "six", {"pip": ["alpha"]}), log)
        assert run(built, "import six; print(six.FROM)") == "conda"

    def test_what_the_index_lacks_goes_over_condas(self, wanted, channel, log):
        channel.add(six("1.4"))
        built = builder.build(wanted("greet", "six", {"pip": ["alpha"]}), log)
        assert run(built, "import six; print(six.FROM)") == "index"

    def test_native_takes_python_alone_from_the_channel(self, wanted, log, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONDA", "native")
        built = builder.build(wanted(f"python={VERSION}", {"pip": ["alpha"]}), log)
        assert os.path.isdir(os.path.join(EnvironmentFolder(built.key).env, "conda-meta"))

    def test_a_failure_is_remembered_and_leaves_nothing_built(self, wanted, log):
        spec = wanted("greet", channels=[f"http://{closed_port()}/flock"])
        with pytest.raises(EnvironmentBuildError, match="cannot be reached"):
            builder.build(spec, log)
        with pytest.raises(EnvironmentBuildError, match="environment_retry_s"):
            builder.build(spec, log)
        assert builder.known(spec) is None


class TestWithout:
    def test_never_refuses_what_only_conda_has(self, wanted, log, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONDA", "never")
        with pytest.raises(EnvironmentBuildError, match=r"only conda has greet.*conda=never"):
            builder.check(wanted("greet"))

    def test_what_the_index_has_needs_no_conda(self, wanted, log):
        built = builder.build(wanted("six=1.5"), log)
        assert run(built, "import six; print(six.FROM)") == "index"
        assert "CONDA_PREFIX" not in built.variables

    def test_without_py_rattler_it_says_so_and_forgets_it(self, wanted, log, monkeypatch):
        monkeypatch.setattr("rookery.environments.conda.program._is_beside_us", lambda: False)
        for _ in range(2):
            with pytest.raises(EnvironmentBuildError, match=r"rookery\[conda\]") as caught:
                builder.build(wanted("greet"), log)
            assert "environment_retry_s" not in caught.value.message
        with pytest.raises(EnvironmentBuildError, match=r"'birds': only conda has greet\. .*rookery\[conda\]"):
            builder.check(wanted("greet"))

    def test_without_given_drops_whole_entries(self):
        text = "a==1 \\\n    --hash=sha256:0\nNum_Py==2 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\nz[x]==3\n"
        assert without_given(text, {"num-py": "2", "a": "9"}) == "a==1 \\\n    --hash=sha256:0\nz[x]==3\n"
        assert without_given(text, {"z": "3"}).endswith("sha256:2\n")
