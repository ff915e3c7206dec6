from __future__ import annotations

import json

import pytest

from rookery.errors import UserError
from rookery.sdk.environment import Environment
from rookery.sdk.environment_sections import DEFAULT_CPU_IMAGE, DockerBuildContext
from rookery.sdk.secret import Secret


def make():
    environment = Environment("mine")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = "/opt/py/bin/python"
    environment.environment_variables = {"A": "1"}
    environment.docker.enabled = True
    environment.docker.base_image = "image:1"
    return environment


class TestName:
    @pytest.mark.parametrize("name", [None, "", "  ", 3, "a/b", "a\\b", "../x", ".hidden", "a\nb", "x" * 256])
    def test_an_impossible_one_is_refused(self, name):
        with pytest.raises(UserError, match="not a valid environment name"):
            Environment(name)

    def test_a_clone_may_not_take_a_reserved_one(self):
        with pytest.raises(UserError, match="reserved"):
            make().clone("AzureML-Mine")

    def test_a_curated_one_can_be_held(self):
        assert Environment("AzureML-PyTorch-1.6-GPU").clone("mine").name == "mine"


class TestClone:
    def test_is_independent_and_has_no_version(self):
        first = make()
        first.version = "3"
        second = first.clone("other")
        second.python.interpreter_path = "/elsewhere"
        second.environment_variables["A"] = "2"
        assert (second.name, second.version) == ("other", None)
        assert first.python.interpreter_path == "/opt/py/bin/python"
        assert first.environment_variables == {"A": "1"}


class TestRepr:
    def test_is_the_json_of_the_file(self):
        shown = json.loads(repr(make()))
        assert shown["name"] == "mine"
        assert shown["python"]["userManagedDependencies"] is True
        assert shown["docker"]["baseImage"] == "image:1"
        assert shown["python"]["condaDependencies"]["name"] == "project_environment"


class TestDirectory:
    def test_round_trip(self, tmp_path):
        environment = make()
        environment.python.user_managed_dependencies = False
        environment.python.conda_dependencies.add_pip_package("torch==1.6.0")
        folder = str(tmp_path / "new folder")
        environment.save_to_directory(folder)
        back = Environment.load_from_directory(folder)
        assert back.to_dict() == environment.to_dict()
        assert (tmp_path / "new folder" / "conda_dependencies.yml").exists()

    def test_a_dockerfile_has_a_file_of_its_own(self, tmp_path):
        environment = Environment("mine")
        environment.docker.base_dockerfile = "FROM scratch\n"
        environment.save_to_directory(str(tmp_path / "d"))
        assert (tmp_path / "d" / "BaseDockerfile").read_text() == "FROM scratch\n"
        assert Environment.load_from_directory(str(tmp_path / "d")).docker.base_dockerfile == "FROM scratch\n"

    def test_an_existing_folder_needs_overwrite(self, tmp_path):
        with pytest.raises(UserError, match="overwrite=True"):
            make().save_to_directory(str(tmp_path))
        make().save_to_directory(str(tmp_path), overwrite=True)

    def test_overwriting_leaves_no_file_of_the_last_one(self, tmp_path):
        first = Environment("a")
        first.docker.base_dockerfile = "FROM scratch"
        first.save_to_directory(str(tmp_path / "d"))
        make().save_to_directory(str(tmp_path / "d"), overwrite=True)
        assert sorted(p.name for p in (tmp_path / "d").iterdir()) == ["azureml_environment.json"]

    def test_a_folder_without_the_file_is_no_environment(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"azureml_environment\.json"):
            Environment.load_from_directory(str(tmp_path))

    def test_a_broken_file_is_named(self, tmp_path):
        (tmp_path / "azureml_environment.json").write_text("{")
        with pytest.raises(UserError, match="not valid JSON"):
            Environment.load_from_directory(str(tmp_path))

    def test_a_secret_is_saved_masked_and_read_back_without_a_value(self, tmp_path):
        environment = make()
        environment.environment_variables["TOKEN"] = Secret("hidden words")
        environment.save_to_directory(str(tmp_path / "d"))
        assert "hidden words" not in (tmp_path / "d" / "azureml_environment.json").read_text()
        back = Environment.load_from_directory(str(tmp_path / "d"))
        assert back.environment_variables["A"] == "1"
        assert not back.environment_variables["TOKEN"].is_known


class TestDocker:
    def test_one_source_counts_and_the_default_goes_quietly(self):
        environment = Environment("e")
        assert environment.docker.base_image == DEFAULT_CPU_IMAGE
        environment.docker.base_dockerfile = "FROM scratch"
        assert environment.docker.base_image is None

    def test_a_chosen_source_goes_with_a_warning(self):
        environment = make()
        with pytest.warns(UserWarning, match=r"docker\.base_image='image:1' was reset"):
            environment.docker.build_context = DockerBuildContext("git", "https://x")
        assert environment.docker.base_image is None

    def test_clearing_a_source_clears_nothing_else(self):
        environment = make()
        environment.docker.base_dockerfile = None
        assert environment.docker.base_image == "image:1"


class TestCondaFile:
    def test_setting_the_file_reads_it(self, tmp_path):
        path = tmp_path / "c.yml"
        path.write_text("dependencies: [python=3.7]")
        environment = Environment("e")
        environment.python.conda_dependencies_file = str(path)
        assert environment.python.conda_dependencies.get_python_version() == "3.7"
        assert environment.python.conda_dependencies_file == str(path)
