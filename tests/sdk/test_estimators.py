from __future__ import annotations

import sys
import warnings

import pytest

from rookery.azureml.train.dnn import Chainer, Gloo, Mpi, Nccl, ParameterServer, PyTorch, TensorFlow
from rookery.azureml.train.estimator import Estimator, MMLBaseEstimator, MMLBaseEstimatorRunConfig
from rookery.azureml.train.sklearn import SKLearn
from rookery.errors import RunConfigError, UnsupportedError, UserError
from rookery.sdk.data_reference import DataPath, DataReference
from rookery.sdk.dataset import Dataset
from rookery.sdk.environment import Environment
from rookery.sdk.experiment import Experiment
from rookery.sdk.script_run_config import ScriptRunConfig
from rookery.sdk.submission import build_run_spec, check_submission
from rookery.sdk.workspace import Workspace
from tests.sdk.fake_keeper import FakeKeeper


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "it's a source"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)")
    return folder


def make(kind, source, **options):
    """An estimator, whose deprecation is expected."""
    with pytest.warns(DeprecationWarning, match=f"'{kind.__name__}' is deprecated.*ScriptRunConfig"):
        return kind(str(source), **{"entry_script": "train.py", "compute_target": "local", **options})


def spec(estimator):
    config = estimator.to_script_run_config()
    check_submission(config)
    return build_run_spec(config, run_id="exp_1_00000000", experiment="exp")


def packages(estimator):
    return list(estimator.conda_dependencies.pip_packages)


class TestEstimator:
    def test_becomes_a_script_run_config(self, source):
        params = {"--lr": 0.1, "--verbose": "", "--name": "a b", "--none": None, "--zero": 0}
        estimator = make(
            Estimator, source, script_params=params, environment_variables={"A": "1"}, max_run_duration_seconds=60
        )
        assert isinstance(estimator, MMLBaseEstimator)
        assert isinstance(estimator.to_script_run_config(), ScriptRunConfig)
        made = spec(estimator)
        assert made.script == "train.py"
        assert made.arguments == ("--lr", "0.1", "--verbose", "--name", "a b", "--none", "--zero", "0")
        assert made.variables == {"A": "1"}
        assert (made.launcher, made.node_count, made.max_duration_s) == ("none", 1, 60)
        assert estimator.source_directory == str(source)

    def test_without_packages_it_is_the_interpreter_that_submits(self, source):
        made = spec(make(Estimator, source))
        assert made.environment.conda is None
        assert made.environment.python == sys.executable

    def test_packages_and_files(self, source):
        (source / "more.txt").write_text("# a comment\nsix==1.0  # why\n\nrich\n")
        estimator = make(
            Estimator, source, pip_packages=["rich==13.0"], conda_packages=["numpy"], pip_requirements_file="more.txt"
        )
        assert packages(estimator)[-2:] == ["six==1.0", "rich==13.0"]
        assert "numpy" in list(estimator.conda_dependencies.conda_packages)
        assert estimator.conda_dependencies.get_python_version() == "{}.{}".format(*sys.version_info)
        assert spec(estimator).environment.conda is not None

    @pytest.mark.parametrize("name", ["conda_dependencies_file", "conda_dependencies_file_path"])
    def test_conda_file_of_the_source_folder(self, source, name):
        (source / "conda.yml").write_text("dependencies:\n- python=3.9\n- pip:\n  - six\n")
        estimator = make(Estimator, source, pip_packages=["rich"], **{name: "conda.yml"})
        assert packages(estimator) == ["six", "rich"]
        assert estimator.conda_dependencies.get_python_version() == "3.9"

    def test_a_file_that_is_not_there(self, source):
        with (
            pytest.warns(DeprecationWarning, match="is deprecated"),
            pytest.raises(UserError, match=r"There is no file 'none\.txt' in source_directory"),
        ):
            Estimator(str(source), pip_requirements_file="none.txt")

    def test_user_managed(self, source):
        assert spec(make(Estimator, source, user_managed=True)).environment.user_managed

    def test_environment_definition_counts_alone(self, source):
        environment = Environment("mine")
        environment.python.user_managed_dependencies = True
        assert make(Estimator, source, environment_definition=environment).run_config.environment is environment
        with pytest.warns(UserWarning, match="own packages and image are ignored"):
            make(Estimator, source, environment_definition=environment, pip_packages=["six"])

    def test_an_image_is_a_container(self, source):
        config = make(Estimator, source, custom_docker_image="birds/train:1", shm_size="4g").run_config
        assert config.environment.docker.base_image == "birds/train:1"
        assert (config.docker.use_docker, config.docker.shm_size) == (True, "4g")
        assert make(Estimator, source).run_config.docker.use_docker is False

    def test_a_typo_lists_the_options(self, source):
        with pytest.raises(TypeError, match=r"Estimator has no 'script_parms'. It has: .*script_params"):
            Estimator(str(source), script_parms={})

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"compute_target": None, "vm_size": "STANDARD_NC6"}, "Create a cluster"),
        ],
    )
    def test_what_is_not_there_is_refused(self, source, options, said):
        with pytest.warns(DeprecationWarning, match="is deprecated"), pytest.raises(UnsupportedError, match=said):
            Estimator(str(source), **options)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"inputs": ["x"]}, "inputs holds a str. Give dataset.as_named_input"),
            ({"resume_from": "x"}, "resume_from is str. Give a DataPath"),
        ],
    )
    def test_data_of_a_wrong_kind(self, source, options, said):
        with pytest.warns(DeprecationWarning, match="is deprecated"), pytest.raises(UserError, match=said):
            Estimator(str(source), **options)

    def test_script_params_must_be_a_dictionary(self, source):
        with pytest.warns(DeprecationWarning, match="is deprecated"), pytest.raises(UserError, match="dictionary"):
            Estimator(str(source), script_params=["--lr", 1])


class TestLaunch:
    @pytest.mark.parametrize(
        ("kind", "options", "launcher", "nodes", "each"),
        [
            (PyTorch, {"distributed_training": Mpi(2), "node_count": 2}, "mpi", 2, 2),
            (PyTorch, {"distributed_training": Mpi(), "process_count_per_node": 3}, "mpi", 1, 3),
            (Estimator, {"distributed_backend": "mpi", "node_count": 2, "process_count_per_node": 2}, "mpi", 2, 2),
            (PyTorch, {"distributed_training": Gloo(), "node_count": 2}, "per_process", 2, 1),
            (PyTorch, {"distributed_backend": "nccl", "process_count_per_node": 2}, "per_process", 1, 2),
            (TensorFlow, {"distributed_training": ParameterServer(3, 1), "node_count": 3}, "tensorflow", 3, 1),
            (TensorFlow, {"distributed_backend": "ps", "worker_count": 2}, "tensorflow", 2, 1),
        ],
    )
    def test_backends(self, source, kind, options, launcher, nodes, each):
        made = spec(make(kind, source, **options))
        assert (made.launcher, made.node_count, made.processes_per_node) == (launcher, nodes, each)

    def test_the_backend_of_torch(self, source):
        assert spec(make(PyTorch, source, distributed_training=Nccl())).launcher_options["backend"] == "nccl"
        assert spec(make(PyTorch, source, distributed_training=Gloo())).launcher_options["backend"] == "gloo"

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"node_count": 2}, "needs distributed_training"),
            ({"process_count_per_node": 2}, "needs distributed_training"),
            ({"distributed_backend": "smoke"}, "Known: mpi, ps, gloo, nccl"),
            ({"distributed_training": object()}, "Allowed: Mpi"),
        ],
    )
    def test_what_cannot_be(self, source, options, said):
        with pytest.warns(DeprecationWarning, match="is deprecated"), pytest.raises(RunConfigError, match=said):
            PyTorch(str(source), **options)


class TestFrameworks:
    @pytest.mark.parametrize(
        ("kind", "package", "version"),
        [
            (PyTorch, "torch", "1.4"),
            (TensorFlow, "tensorflow", "1.13"),
            (Chainer, "chainer==7.8.1", "5.1.0"),
            (SKLearn, "scikit-learn", "0.20.3"),
        ],
    )
    def test_each_brings_its_framework(self, source, kind, package, version):
        estimator = make(kind, source, pip_packages=["six"])
        assert package in packages(estimator)
        assert packages(estimator)[-1] == "six"
        assert (version, kind.__name__) == (kind.DEFAULT_VERSION, kind.FRAMEWORK_NAME)

    def test_a_version_of_ones_own_counts(self, source):
        found = packages(make(PyTorch, source, pip_packages=["torch==1.6.0"]))
        assert [p for p in found if p.startswith("torch=") or p == "torch"] == ["torch==1.6.0"]

    def test_framework_version_is_not_pinned_and_says_so(self, source):
        with pytest.warns(UserWarning, match=r"framework_version='1.4' of PyTorch is not pinned"):
            make(PyTorch, source, framework_version="1.4")

    def test_sklearn_has_no_nodes(self, source):
        with pytest.raises(TypeError, match="SKLearn has no 'node_count'"):
            SKLearn(str(source), node_count=2)


class TestRunConfig:
    def test_base_with_a_configuration(self, source):
        config = MMLBaseEstimatorRunConfig("local", entry_script="train.py", script_params={"--a": 1}, node_count=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimator = MMLBaseEstimator(str(source), compute_target="local", estimator_config=config)
        assert estimator.run_config is config
        assert spec(estimator).arguments == ("--a", "1")
        with pytest.raises(AttributeError, match="It has"):
            config.nod_count = 3


class TestSubmit:
    def test_it_runs(self, source, tmp_path, monkeypatch):
        """With a real keeper: an estimator's script gets its parameters and its variables."""
        monkeypatch.chdir(tmp_path)
        (source / "train.py").write_text(
            "import os, sys\n"
            "from azureml.core import Run\n"
            "Run.get_context().log('said', ' '.join(sys.argv[1:]) + os.environ['END'])\n"
        )
        estimator = make(Estimator, source, script_params={"--lr": 0.5, "--go": ""}, environment_variables={"END": "!"})
        run = Experiment(Workspace.create("nest"), "old").submit(estimator)
        run.wait_for_completion()
        assert run.get_metrics() == {"said": "--lr 0.5 --go!"}

    def test_inputs_and_a_checkpoint_reach_the_script(self, source, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "seed").mkdir()
        (tmp_path / "seed" / "seen.txt").write_text("owl")
        (tmp_path / "seed" / "more.txt").write_text("wren")
        (source / "train.py").write_text(
            "import os, sys\n"
            "from azureml.core import Run\n"
            "run = Run.get_context()\n"
            "run.log('birds', open(os.path.join(run.input_datasets['birds'], 'seen.txt')).read())\n"
            "run.log('place', sorted(os.listdir(os.environ['AZUREML_DATAREFERENCE_place']))[0])\n"
            "run.log('resumed', open(os.path.join(sys.argv[sys.argv.index('--resume-from') + 1], 'more.txt')).read())\n"
        )
        workspace = Workspace.create("nest")
        store = workspace.get_default_datastore()
        store.upload(str(tmp_path / "seed"), "seed", show_progress=False)
        birds = Dataset.File.from_files((store, "seed"))
        place = DataReference(store, "place", "seed")
        estimator = make(
            Estimator,
            source,
            inputs=[birds.as_named_input("birds").as_mount(), place.as_mount()],
            resume_from=DataPath(store, "seed"),
        )
        run = Experiment(workspace, "old").submit(estimator)
        run.wait_for_completion()
        assert run.get_metrics() == {"birds": "owl", "place": "more.txt", "resumed": "wren"}

    def test_something_else_is_refused(self, source):
        with pytest.raises(UserError, match="str cannot be submitted"):
            Experiment(Workspace._of_client(FakeKeeper()), "old").submit("train.py")
