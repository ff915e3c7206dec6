"""Which runtime there is. Programs here are scripts that answer as the real ones do."""

import os
import sys

import pytest

from rookery import environments
from rookery.environments.containers import contained
from rookery.environments.containers.image_wish import ImageWish
from rookery.environments.containers.images import Unavailable, get_image
from rookery.environments.containers.runtimes import ContainerPolicy, find_runtime
from rookery.errors import ConfigError, EnvironmentBuildError
from rookery.spec.run import EnvironmentSpec
from tests.containers.conftest import forget

NO_ENGINE = "echo '|[]'; echo 'Cannot connect to the Docker daemon. Is the docker daemon running?' >&2; exit {code}"
SPEC = EnvironmentSpec(
    name="article", python=sys.executable, docker={"baseImage": "example.org/image:1", "enabled": True}
)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH with nothing on it, and a way to put scripts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    forget()

    def add(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        forget()
        return str(path)

    yield add
    forget()


class TestFindRuntime:
    def test_none(self, programs):
        found = find_runtime(ContainerPolicy())
        assert (found.runtime, found.missing) == ("", "podman, docker or apptainer is not installed")

    @pytest.mark.parametrize("code", [0, 1])
    def test_a_client_without_an_engine_counts_as_absent(self, programs, code):
        programs("docker", NO_ENGINE.format(code=code))
        found = find_runtime(ContainerPolicy())
        assert found.runtime == ""
        assert "no engine answers it (Cannot connect" in found.missing

    def test_podman_before_docker_unless_set(self, programs):
        programs("docker", "echo '28.2|[name=seccomp]'")
        podman = programs("podman", 'echo "$*" >> "$0.calls"; echo true')
        found = find_runtime(ContainerPolicy(flags=("--root", "/x y")))
        assert (found.runtime, found.program, found.is_rootless) == ("podman", podman, True)
        assert find_runtime(ContainerPolicy(flags=("--root", "/x y"))) is found
        with open(podman + ".calls") as f:
            assert f.read() == "--root /x y info --format {{.Host.Security.Rootless}}\n", "asked once"
        assert find_runtime(ContainerPolicy(program="docker")).runtime == "docker"

    def test_who_files_belong_to(self, programs):
        programs("docker", "echo '28.2|[name=seccomp name=rootless]'")
        assert find_runtime(ContainerPolicy()).container(ContainerPolicy()).user == "0:0"
        programs("docker", "echo '28.2|[name=seccomp]'")
        assert find_runtime(ContainerPolicy()).container(ContainerPolicy()).user == f"{os.getuid()}:{os.getgid()}"

    def test_an_engine_of_another_machine_sees_no_files_of_ours(self, programs, monkeypatch):
        monkeypatch.setenv("DOCKER_HOST", "tcp://other.example.org:2375")
        programs("docker", "echo '28.2|[]'")
        assert "on another machine" in find_runtime(ContainerPolicy()).missing

    def test_apptainer_under_its_older_name(self, programs):
        programs("singularity", "echo 3.8")
        assert find_runtime(ContainerPolicy()).runtime == "apptainer"


class TestPolicy:
    def test_settings(self, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONTAINER_FLAGS", "--root '/a b'")
        assert ContainerPolicy.read() == ContainerPolicy("auto", "", ("--root", "/a b"), True)

    @pytest.mark.parametrize(
        ("name", "value"), [("CONTAINERS", "maybe"), ("CONTAINER_RUNTIME", "lxc"), ("CONTAINER_FLAGS", "'")]
    )
    def test_nonsense_is_refused(self, monkeypatch, name, value):
        monkeypatch.setenv("ROOKERY_" + name, value)
        with pytest.raises(ConfigError, match=name.lower()):
            ContainerPolicy.read()


class TestWithoutARuntime:
    def test_says_so_and_uses_the_built_environment(self, programs):
        said = []
        built = environments.prepare(SPEC, said.append)
        assert (built.python, built.container) == (sys.executable, None)
        (deviation,) = built.deviations
        assert (
            "not in a container of image 'example.org/image:1': podman, docker or apptainer is not installed."
            in deviation
        )
        assert deviation.encode() in b"".join(said)
        assert environments.prepared(SPEC) == built

    def test_strict_fails(self, programs, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONTAINERS", "strict")
        with pytest.raises(EnvironmentBuildError, match=r"example.org/image:1.*not installed.*containers=strict"):
            environments.prepare(SPEC, lambda data: None)

    def test_never_asks_nobody(self, programs, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONTAINERS", "never")
        podman = programs("podman", 'touch "$0.called"; echo true')
        (deviation,) = environments.prepare(SPEC, lambda data: None).deviations
        assert "says never" in deviation
        assert not os.path.exists(podman + ".called")

    def test_an_untouched_section_is_not_even_looked_at(self, programs):
        programs("podman", "echo true")
        assert environments.prepare(EnvironmentSpec(python=sys.executable), lambda data: None).deviations == ()


class TestPulling:
    """A podman that has no image and a registry that says no."""

    PODMAN = """
        echo "$*" >> "$0.calls"
        case "$*" in
            info*) echo false;;
            *inspect*) exit 125;;
            *pull*) for w in "$@"; do case "$w" in *config.json) stat -c %a "$w" >> "$0.auth"; cat "$w" >> "$0.auth";; esac; done
                echo 'Error: pinging container registry example.org: no such host' >&2; exit 125;;
        esac
    """

    @pytest.fixture
    def podman(self, programs, monkeypatch):
        path = programs("podman", self.PODMAN)
        monkeypatch.setenv("PATH", os.path.dirname(path) + ":/usr/bin:/bin")
        return path

    def test_a_registry_that_does_not_answer_is_asked_once(self, podman):
        for _ in range(3):
            (deviation,) = environments.prepare(SPEC, lambda data: None).deviations
        assert "cannot be pulled: pinging container registry example.org: no such host" in deviation
        with open(podman + ".calls") as f:
            assert sum("pull" in line for line in f) == 1
        contained._known.clear()

    def test_credentials_are_in_a_file_for_as_long_as_it_takes(self, podman):
        said = []
        wish = ImageWish("example.org/image:1", registry="example.org", username="me", password="s3cret!")
        policy = ContainerPolicy()
        with pytest.raises(Unavailable):
            get_image(wish, find_runtime(policy), policy, said.append, 1e12, 60.0)
        with open(podman + ".calls") as f:
            calls = f.read()
        with open(podman + ".auth") as f:
            mode, content = f.read().split("\n", 1)
        assert mode == "600"
        assert '"example.org": {"auth": "bWU6czNjcmV0IQ=="}' in content
        path = next(word for word in calls.split() if word.endswith("config.json"))
        assert not os.path.exists(path)
        assert b"s3cret" not in b"".join(said)
        assert "s3cret" not in calls

    def test_pulling_can_be_forbidden(self, podman, monkeypatch):
        monkeypatch.setenv("ROOKERY_CONTAINER_PULL", "no")
        (deviation,) = environments.prepare(SPEC, lambda data: None).deviations
        assert "container_pull is off" in deviation
        with open(podman + ".calls") as f:
            assert "pull" not in f.read()
