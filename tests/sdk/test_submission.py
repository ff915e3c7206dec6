from __future__ import annotations

import enum
import json
import pathlib
import sys

import numpy
import pytest

from rookery.errors import RunConfigError, SubmitError, UnsupportedError, UserError
from rookery.sdk.distributed import PyTorchConfiguration
from rookery.sdk.environment import Environment
from rookery.sdk.run_config_data import Data
from rookery.sdk.run_configuration import RunConfiguration
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.submission import build_run_spec, check_submission
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import RunSpec


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "it's a source"
    (folder / "sub").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)")
    (folder / "sub" / "evaluate.py").write_text("print(2)")
    return folder


def build(config):
    check_submission(config)
    return build_run_spec(config, run_id="exp_1_00000000", experiment="exp")


class TestSource:
    def test_a_missing_folder_is_named(self, tmp_path):
        with pytest.raises(SubmitError, match="nowhere' does not exist"):
            check_submission(ScriptRunConfig(str(tmp_path / "nowhere"), "train.py"))

    @pytest.mark.parametrize(
        ("script", "said"),
        [
            ("trian.py", "Did you mean 'train.py'"),
            ("evaluate.py", "Did you mean 'sub/evaluate.py'"),
            ("Train.py", "Did you mean 'train.py'"),
            ("zzz", "It holds: sub/evaluate.py, train.py"),
        ],
    )
    def test_a_missing_script_gets_a_suggestion(self, source, script, said):
        with pytest.raises(SubmitError) as caught:
            check_submission(ScriptRunConfig(str(source), script))
        assert said in str(caught.value)

    def test_a_script_outside_is_refused(self, source):
        (source.parent / "out.py").write_text("")
        with pytest.raises(SubmitError, match="outside"):
            check_submission(ScriptRunConfig(str(source), "../out.py"))

    @pytest.mark.parametrize("script", ["sub/evaluate.py", "./sub/evaluate.py", "sub/../sub/evaluate.py"])
    def test_paths_are_made_plain(self, source, script):
        assert build(ScriptRunConfig(str(source), script)).script == "sub/evaluate.py"

    def test_an_absolute_path_inside_is_made_relative(self, source):
        assert build(ScriptRunConfig(str(source), str(source / "train.py"))).script == "train.py"

    def test_neither_script_nor_command(self, source):
        with pytest.raises(UserError, match="neither was given"):
            check_submission(ScriptRunConfig(str(source)))

    def test_something_else_cannot_be_submitted(self):
        with pytest.raises(UserError, match="RunConfiguration cannot be submitted"):
            check_submission(RunConfiguration())


class TestArguments:
    def test_plain_values_become_text(self, source):
        class Colour(enum.Enum):
            RED = "red"

        given = [
            "--n",
            3,
            0.1,
            True,
            pathlib.Path("a/b"),
            numpy.float64(0.5),
            numpy.int64(7),
            Colour.RED,
            "$LOCAL_RANK",
            "",
        ]
        made = build(ScriptRunConfig(str(source), "train.py", given)).arguments
        assert made == ("--n", "3", "0.1", "True", "a/b", "0.5", "7", "red", "$LOCAL_RANK", "")

    def test_a_dataset_is_told_how_to_be_passed(self, source):
        class FileDataset:
            def as_named_input(self, name): ...

        with pytest.raises(UserError, match=r"arguments\[1\] is a FileDataset.*as_mount"):
            check_submission(ScriptRunConfig(str(source), "train.py", ["--data", FileDataset()]))

    def test_run_config_data_is_refused(self, source):
        with pytest.raises(UserError, match=r"runconfig\.Data"):
            check_submission(ScriptRunConfig(str(source), "train.py", [Data()]))

    @pytest.mark.parametrize("value", [None, [1], {"a": 1}, b"x", object(), numpy.array([1, 2])])
    def test_other_things_are_refused_by_position(self, source, value):
        with pytest.raises(UserError, match=r"arguments\[0\]"):
            check_submission(ScriptRunConfig(str(source), "train.py", [value]))

    def test_one_string_is_no_list(self, source):
        with pytest.raises(UserError, match="Give a list"):
            check_submission(ScriptRunConfig(str(source), "train.py", "--epochs 3"))


class TestCommand:
    def test_a_list_is_joined_with_single_spaces(self, source):
        spec = build(ScriptRunConfig(str(source), command=["python -m launch", "--epochs", 25, "x.py $RANK"]))
        assert spec.command == "python -m launch --epochs 25 x.py $RANK"
        assert (spec.script, spec.arguments) == (None, ())

    def test_text_is_kept(self, source):
        assert build(ScriptRunConfig(str(source), command="a  'b c' && d")).command == "a  'b c' && d"


class TestEnvironment:
    def test_untouched_it_is_the_python_that_submits(self, source):
        spec = build(ScriptRunConfig(str(source), "train.py")).environment
        assert (spec.python, spec.user_managed, spec.conda, spec.docker) == (
            sys.executable,
            False,
            None,
            None,
        )

    @pytest.mark.parametrize(
        ("given", "python"),
        [
            ("python", sys.executable),
            ("/opt/x/python", "/opt/x/python"),
            ("no-such-python", "no-such-python"),
        ],
    )
    def test_user_managed_names_its_interpreter(self, source, given, python):
        environment = Environment("mine")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = given
        spec = build(ScriptRunConfig(str(source), "train.py", environment=environment)).environment
        assert (spec.name, spec.python, spec.user_managed, spec.conda) == ("mine", python, True, None)

    def test_touched_conda_goes_along(self, source):
        environment = Environment("mine")
        environment.python.conda_dependencies.add_pip_package("torch==1.6.0")
        spec = build(ScriptRunConfig(str(source), "train.py", environment=environment)).environment
        assert spec.conda["dependencies"][1] == {"pip": ["azureml-defaults", "torch==1.6.0"]}

    def test_docker_goes_along_without_the_password(self, source):
        environment = Environment("mine")
        environment.docker.base_image = "x"
        environment.docker.base_image_registry.password = "hush"
        spec = build(ScriptRunConfig(str(source), "train.py", environment=environment))
        assert spec.environment.docker["baseImage"] == "x"
        assert "hush" not in json.dumps(to_plain(spec))

    def test_variables_are_merged_and_the_run_wins(self, source):
        environment = Environment("mine")
        environment.environment_variables = {"A": "env", "B": 2}
        config = ScriptRunConfig(str(source), "train.py", environment=environment)
        config.run_config.environment_variables = {"A": "run", "C": 0.5}
        spec = build(config)
        assert spec.variables == {"A": "run", "B": "2", "C": "0.5"}
        assert spec.environment.variables == {"A": "env", "B": "2"}

    @pytest.mark.parametrize("variables", [["A=1"], {"A=": "1"}, {"": "1"}])
    def test_bad_variables_are_refused(self, source, variables):
        config = ScriptRunConfig(str(source), "train.py")
        config.run_config.environment_variables = variables
        with pytest.raises(RunConfigError, match="environment_variables"):
            build(config)


class TestSpec:
    def test_is_complete_and_plain(self, source):
        config = ScriptRunConfig(
            str(source),
            "train.py",
            compute_target="gpu-cluster",
            max_run_duration_seconds="60",
            distributed_job_config=PyTorchConfiguration("Gloo", 4, 2),
        )
        config.run_config.history.output_collection = False
        config.run_config.history.directories_to_watch = ["logs", "tb"]
        check_submission(config)
        spec = build_run_spec(
            config,
            run_id="r1",
            experiment="exp",
            parent_id="p",
            snapshot_id="s",
            tags={"a": None, "b": 1},
            properties={"c": 2},
        )
        assert (spec.compute, spec.target, spec.node_count, spec.processes_per_node) == (
            "gpu-cluster",
            "gpu-cluster",
            2,
            2,
        )
        assert (spec.launcher, spec.max_duration_s, spec.collect_outputs) == ("per_process", 60, False)
        assert (spec.watch_folders, spec.parent_id, spec.snapshot_id) == (("logs", "tb"), "p", "s")
        assert (spec.tags, spec.properties) == ({"a": None, "b": "1"}, {"c": "2"})
        assert from_plain(RunSpec, json.loads(json.dumps(to_plain(spec)))) == spec

    @pytest.mark.parametrize("seconds", ["soon", 0, -1])
    def test_an_impossible_limit_is_refused(self, source, seconds):
        config = ScriptRunConfig(str(source), "train.py", max_run_duration_seconds=seconds)
        with pytest.raises(RunConfigError, match="max_run_duration_seconds"):
            build(config)

    def test_data_that_names_no_data_set_is_refused(self, source):
        config = ScriptRunConfig(str(source), "train.py")
        config.run_config.data["d"] = Data()
        with pytest.raises(UserError, match=r"run_config\.data"):
            check_submission(config)

    def test_services_are_not_available(self, source):
        config = ScriptRunConfig(str(source), "train.py")
        config.run_config.services["s"] = object()
        with pytest.raises(UnsupportedError, match=r"run_config\.services"):
            check_submission(config)

    def test_compute_for_one_run_is_not_available(self, source):
        with pytest.raises(UnsupportedError, match="amlcompute"):
            check_submission(ScriptRunConfig(str(source), "train.py", compute_target="amlcompute"))
