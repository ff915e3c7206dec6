from __future__ import annotations

import json
import os
import sys
import textwrap

import pytest

from rookery.errors import UserError
from rookery.sdk.container_registry import ContainerRegistry
from rookery.sdk.environment import Environment
from rookery.sdk.environment_sections import DockerBuildContext

HERE = "{}.{}".format(*sys.version_info)
CONDA = """
    channels:
    - conda-forge
    dependencies:
    - python=3.6.2
    - pip:
      - azureml-defaults
      - torch==1.6.0
      - torchvision==0.7.0
      - future==0.17.1
      - pillow
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / "it's here" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


class TestCondaSpecification:
    def test_the_articles_file(self, write):
        environment = Environment.from_conda_specification(name="pytorch", file_path=write("conda.yml", CONDA))
        conda = environment.python.conda_dependencies
        assert (environment.name, conda.get_python_version()) == ("pytorch", "3.6.2")
        assert "torch==1.6.0" in conda.pip_packages

    def test_a_missing_file_is_named(self):
        with pytest.raises(FileNotFoundError, match=r"nowhere\.yml"):
            Environment.from_conda_specification("x", "nowhere.yml")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("dependencies: &a [*a]", "aliases"),
            ("dependencies: [" + "x, " * 30_000 + "]", "longer than"),
            ("x" * 2_000_000, "larger than"),
            ("dependencies: {a: b}", "no conda environment"),
        ],
    )
    def test_a_hostile_or_broken_one_is_refused(self, write, text, said):
        with pytest.raises(UserError, match=said):
            Environment.from_conda_specification("x", write("conda.yml", text))


class TestPipRequirements:
    def test_takes_lines_options_and_this_python(self, write, capsys):
        path = write("r.txt", "# first\ntorch==1.6.0  # why\n\n--extra-index-url https://x/simple\npillow \\\n  >=8\n")
        environment = Environment.from_pip_requirements("x", path)
        conda = environment.python.conda_dependencies
        assert list(conda.pip_packages) == ["torch==1.6.0", "pillow >=8"]
        assert list(conda.pip_options) == ["--extra-index-url https://x/simple"]
        assert conda.get_python_version() == HERE
        assert f"takes {HERE}" in capsys.readouterr().err

    def test_a_pip_version_is_pinned(self, write):
        environment = Environment.from_pip_requirements("x", write("r.txt", "six"), pip_version="23.1")
        assert "pip=23.1" in environment.python.conda_dependencies.conda_packages

    def test_a_missing_or_binary_file(self, write, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            Environment.from_pip_requirements("x", "nowhere.txt")
        (tmp_path / "r.txt").write_bytes(b"\x00\x01")
        with pytest.raises(UserError, match="binary"):
            Environment.from_pip_requirements("x", str(tmp_path / "r.txt"))


class TestExistingCondaEnvironment:
    @pytest.fixture
    def conda(self, tmp_path, monkeypatch):
        """A program that answers as conda does."""
        monkeypatch.delenv("CONDA_EXE", raising=False)
        folder = tmp_path / "bin"
        folder.mkdir()
        path = folder / "conda"
        path.write_text(
            textwrap.dedent(
                f"""\
                #!{sys.executable}
                import sys
                assert sys.argv[1:5] == ["env", "export", "--no-builds", "-n"], sys.argv
                if sys.argv[5] != "birds":
                    sys.exit(f"EnvironmentLocationNotFound: Not a conda environment: {{sys.argv[5]}}")
                print("name: birds\\nchannels: [conda-forge]\\ndependencies: [python=3.7.9, {{pip: [six]}}]\\nprefix: /opt/birds")
                """
            )
        )
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return path

    def test_is_read_without_its_prefix(self, conda):
        environment = Environment.from_existing_conda_environment("mine", "birds")
        assert environment.python.conda_dependencies.as_dict() == {
            "name": "birds",
            "channels": ["conda-forge"],
            "dependencies": ["python=3.7.9", {"pip": ["six"]}],
        }

    def test_one_that_is_not_there_is_none_with_the_reason(self, conda, capsys):
        assert Environment.from_existing_conda_environment("mine", "fish") is None
        assert "Not a conda environment: fish" in capsys.readouterr().out

    def test_without_conda_it_is_none_with_the_reason(self, monkeypatch, tmp_path, capsys):
        monkeypatch.delenv("CONDA_EXE", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert Environment.from_existing_conda_environment("mine", "birds") is None
        assert "no conda" in capsys.readouterr().out

    def test_an_option_is_no_name(self, conda):
        with pytest.raises(UserError, match="no name"):
            Environment.from_existing_conda_environment("mine", "--help")


class TestDocker:
    def test_an_image_with_its_own_python(self):
        registry = ContainerRegistry()
        registry.address = "example.org"
        environment = Environment.from_docker_image("x", "team/train:1", container_registry=registry)
        assert environment.docker.base_image == "team/train:1"
        assert environment.docker.base_image_registry.address == "example.org"
        assert environment.python.user_managed_dependencies is True

    def test_an_image_and_packages(self, write):
        conda = Environment.from_docker_image("x", "i", conda_specification=write("c.yml", CONDA))
        assert conda.python.user_managed_dependencies is False
        assert conda.python.conda_dependencies.get_python_version() == "3.6.2"
        pip = Environment.from_docker_image("x", "i", pip_requirements=write("r.txt", "six"))
        assert list(pip.python.conda_dependencies.pip_packages) == ["six"]
        with pytest.raises(UserError, match="only one"):
            Environment.from_docker_image("x", "i", None, write("c.yml", CONDA), write("r.txt", "six"))

    @pytest.mark.parametrize("image", ["", None, "-v/:/x", "a b", "x;y"])
    def test_what_is_no_image(self, image):
        with pytest.raises(UserError, match="no name of an image"):
            Environment.from_docker_image("x", image)

    def test_a_dockerfile_by_path_or_as_text(self, write):
        text = "# mine\nFROM scratch\n"
        assert Environment.from_dockerfile("x", text).docker.base_dockerfile == text
        by_path = Environment.from_dockerfile("x", write("Dockerfile", text), pip_requirements=write("r.txt", "six"))
        assert by_path.docker.base_dockerfile == text
        assert by_path.docker.base_image is None
        with pytest.raises(UserError, match="neither a file"):
            Environment.from_dockerfile("x", "nowhere/Dockerfile")

    def test_a_build_context(self):
        context = DockerBuildContext(DockerBuildContext.LocationType.Git, "https://example.org/x.git")
        environment = Environment.from_docker_build_context("x", context)
        assert environment.docker.build_context.location == "https://example.org/x.git"
        assert environment.python.user_managed_dependencies is True
        assert json.loads(repr(environment))["docker"]["buildContext"]["locationType"] == "git"
        with pytest.raises(UserError, match="from_local_directory"):
            Environment.from_docker_build_context("x", "folder")
