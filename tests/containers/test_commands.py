"""The command lines of runtimes: pure."""

import csv

import pytest

from rookery.spec.container import (
    ContainerSpec,
    Mount,
    Runtime,
    build_command,
    container_limits,
    container_name,
    remove_command,
    run_command,
)


@pytest.fixture
def spec():
    return ContainerSpec(Runtime.PODMAN, "/usr/bin/podman", "abc123", "ubuntu:22.04", ("--root", "/data"), user="0:0")


def after(command, option):
    return [command[i + 1] for i, word in enumerate(command) if word == option]


class TestRunCommand:
    def test_flags_come_first_and_the_image_before_what_runs_in_it(self, spec):
        command = run_command(spec, ["/bin/sh", "/x/start.sh"], "n-1", folder="/w d")
        assert command[:4] == ["/usr/bin/podman", "--root", "/data", "run"]
        assert command[-4:] == ["--entrypoint", "/bin/sh", "abc123", "/x/start.sh"]
        assert "--rm" in command
        assert "--pull=never" in command
        assert (after(command, "--name"), after(command, "--user")) == (["n-1"], ["0:0"])
        assert (after(command, "--network"), after(command, "--workdir")) == (["host"], ["/w d"])

    @pytest.mark.parametrize("path", ["/plain", "/with space", "/it's", "/a,b", '/say "x"'])
    def test_mounts_survive_odd_paths(self, spec, path):
        (word,) = after(run_command(spec, ["sh"], mounts=[Mount(path, True)]), "--mount")
        (fields,) = csv.reader([word])
        assert fields == ["type=bind", f"src={path}", f"dst={path}", "ro"]

    def test_limits_cores_and_shared_memory(self, spec):
        spec = ContainerSpec(**{**spec.__dict__, "shm_size": "2g"})
        command = run_command(spec, ["sh"], limits={"nproc": (5, 6), "nofile": (1, 2)}, cpus=(0, 3))
        assert after(command, "--ulimit") == ["nofile=1:2", "nproc=5:6"]
        assert (after(command, "--cpuset-cpus"), after(command, "--shm-size")) == (["0,3"], ["2g"])

    def test_what_a_rootless_runtime_may_not_do_is_left_out(self, spec):
        spec = ContainerSpec(**{**spec.__dict__, "is_rootless": True, "shm_size": "2g", "arguments": ("--ipc=host",)})
        command = run_command(spec, ["sh"], cpus=(0,))
        assert "--cpuset-cpus" not in command
        assert "--shm-size" not in command, "the host's is shared"

    @pytest.mark.parametrize(
        ("runtime", "words"),
        [
            (Runtime.PODMAN, ["--device", "nvidia.com/gpu=all"]),
            (Runtime.DOCKER, ["--gpus", "all"]),
            (Runtime.APPTAINER, ["--nv"]),
        ],
    )
    def test_gpus(self, runtime, words):
        for gpus in (True, False):
            command = run_command(ContainerSpec(runtime, "/bin/it", "image", gpus=gpus), ["sh"])
            assert (" ".join(words) in " ".join(command)) is gpus

    def test_apptainer_has_words_of_its_own(self):
        spec = ContainerSpec(Runtime.APPTAINER, "/bin/apptainer", "/cache/x.sif")
        command = run_command(spec, ["/bin/sh", "-c", "true"], "n", [Mount("/w")], {"nofile": (1, 1)}, (0,), "/w")
        assert command[:2] == ["/bin/apptainer", "exec"]
        assert command[-4:] == ["/cache/x.sif", "/bin/sh", "-c", "true"]
        assert not {"--name", "--ulimit", "--rm", "--cpuset-cpus"} & set(command)
        assert remove_command(spec, ["n"]) == []


class TestNamesAndRemoval:
    def test_removal_needs_no_container_to_be_there(self, spec):
        assert remove_command(spec, ["a", "b"])[3:] == ["rm", "--force", "--time", "0", "--ignore", "a", "b"]
        docker = ContainerSpec(Runtime.DOCKER, "docker", "i")
        assert remove_command(docker, ["a"]) == ["docker", "rm", "--force", "a"]

    def test_names_are_allowed_and_distinct(self):
        assert container_name("exp_1_ab", 2, 0, 3) == "rookery-exp_1_ab-2-0-3"
        names = {container_name("x" * 254 + end, 1, 0, 0) for end in "ab"}
        assert len(names) == 2
        assert all(len(name) <= 120 for name in names)

    def test_build(self, spec):
        command = build_command(spec, "t:1", "", "/ctx", {"nofile": (1, 2)})
        assert command[3:] == ["build", "--network", "host", "--tag", "t:1", "--ulimit", "nofile=1:2", "/ctx"]
        assert build_command(spec, "t:1", "/d", "/ctx", {})[-3:] == ["--file", "/d", "/ctx"]


class TestLimits:
    def test_not_above_what_the_caller_has(self):
        assert container_limits((1024, 4096), (90000, 90000), 32768) == {
            "nofile": (1024, 4096),
            "nproc": (32768, 32768),
        }

    def test_no_limit_is_not_asked_for(self):
        assert container_limits((1024, -1), (100, -1), 32768) == {"nproc": (100, 32768)}
