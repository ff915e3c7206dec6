from __future__ import annotations

import pytest

from rookery.errors import RunConfigError, UserError
from rookery.sdk.distributed import MpiConfiguration
from rookery.sdk.environment import Environment
from rookery.sdk.run_config_elements import DockerConfiguration
from rookery.sdk.run_configuration import RunConfiguration
from rookery.sdk.script_run_config import ScriptRunConfig, get_run_config_from_script_run


class TestDefaults:
    def test_are_the_documented_ones(self):
        config = ScriptRunConfig(".", "train.py")
        assert config.run_config.target == "local"
        assert config.run_config.environment.name == "default-environment"
        assert config.run_config.max_run_duration_seconds == 2592000
        assert config.arguments == []

    def test_without_a_folder_it_is_this_one(self):
        assert ScriptRunConfig(None, "train.py").source_directory == "."


class TestRunConfig:
    def test_what_is_ignored_is_named(self):
        with pytest.warns(UserWarning, match="compute_target, environment, distributed_job_config") as caught:
            config = ScriptRunConfig(
                ".",
                "a.py",
                run_config=RunConfiguration(),
                compute_target="gpu",
                environment=Environment("e"),
                distributed_job_config=MpiConfiguration(),
            )
        assert config.run_config.target == "local"
        assert caught[0].filename == __file__

    def test_nothing_ignored_says_nothing(self):
        run_config = RunConfiguration("a.py", ["x"])
        config = ScriptRunConfig(".", run_config=run_config)
        assert (config.script, config.arguments, config.run_config) == ("a.py", ["x"], run_config)

    def test_its_own_script_and_arguments_win(self):
        config = ScriptRunConfig(".", "b.py", ["y"], RunConfiguration("a.py", ["x"]))
        complete = get_run_config_from_script_run(config)
        assert (complete.script, complete.arguments) == ("b.py", ["y"])
        assert config.run_config.script == "a.py"

    def test_its_own_command_wins(self):
        config = ScriptRunConfig(".", command="make", run_config=RunConfiguration("a.py"))
        assert (config.script, config.command) == (None, "make")

    def test_a_command_of_the_run_config_is_used(self):
        config = ScriptRunConfig(".", run_config=RunConfiguration(command="make"))
        assert (config.script, config.command) == (None, "make")


class TestRefusals:
    def test_command_with_script(self):
        with pytest.raises(UserError, match="either a command"):
            ScriptRunConfig(".", "a.py", command="make")

    def test_resume_from(self):
        with pytest.raises(UserError, match="DataPath"):
            ScriptRunConfig(".", "a.py", resume_from="x")

    def test_docker_runtime_config_of_another_type(self):
        with pytest.raises(RunConfigError, match="DockerConfiguration"):
            ScriptRunConfig(".", "a.py", docker_runtime_config=True)

    def test_environment_of_another_type(self):
        with pytest.raises(UserError, match="Environment"):
            ScriptRunConfig(".", "a.py", environment="my-env")


class TestDocker:
    def test_the_environment_section_is_copied(self):
        environment = Environment("e")
        environment.docker.enabled = True
        environment.docker.shm_size = "8g"
        docker = ScriptRunConfig(".", "a.py", environment=environment).run_config.docker
        assert (docker.use_docker, docker.shm_size) == (True, "8g")

    def test_its_own_wins(self):
        environment = Environment("e")
        environment.docker.enabled = True
        own = DockerConfiguration(use_docker=False)
        assert ScriptRunConfig(".", "a.py", environment=environment, docker_runtime_config=own).run_config.docker is own
