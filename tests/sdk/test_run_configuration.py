from __future__ import annotations

import pytest

from rookery.errors import UserError
from rookery.sdk.conda_dependencies import CondaDependencies
from rookery.sdk.distributed import PyTorchConfiguration
from rookery.sdk.run_config_data import Data, DataLocation, Uri
from rookery.sdk.run_configuration import RunConfiguration


class Target:
    name = "gpu"


class TestTarget:
    @pytest.mark.parametrize(("given", "name"), [(None, "local"), ("cpu", "cpu"), (Target(), "gpu")])
    def test_is_kept_as_a_name(self, given, name):
        config = RunConfiguration()
        config.target = given
        assert config.target == name

    def test_something_else_is_refused(self):
        with pytest.raises(UserError, match="no compute target"):
            RunConfiguration().target = 3


class TestFiles:
    def make(self):
        config = RunConfiguration(
            "train.py", ["--epochs", 3], conda_dependencies=CondaDependencies.create(pip_packages=["torch"])
        )
        config.target = "gpu"
        config.node_count = 2
        config.framework, config.communicator = "PyTorch", "nccl"
        config.pytorch = PyTorchConfiguration("Gloo", 4, 2)
        config.environment_variables = {"A": "ä"}
        config.data["d"] = Data(DataLocation(uri=Uri("https://x", True)), mechanism="Mount")
        return config

    @pytest.mark.parametrize("separate", [False, True])
    def test_round_trip_in_a_project(self, tmp_path, separate):
        config = self.make()
        config.save(str(tmp_path), "mine", separate_environment_yaml=separate)
        assert (tmp_path / ".azureml" / "mine.runconfig").exists()
        assert (tmp_path / ".azureml" / "environment.yml").exists() is separate
        back = RunConfiguration.load(str(tmp_path), "mine")
        assert back.to_dict() == config.to_dict()
        assert isinstance(back.data["d"], Data)
        assert back.data["d"].data_location.uri.path == "https://x"

    def test_round_trip_as_a_file_and_save_in_place(self, tmp_path):
        path = str(tmp_path / "x.runconfig")
        self.make().save(path)
        loaded = RunConfiguration.load(path)
        loaded.script = "other.py"
        loaded.save()
        assert RunConfiguration.load(path).script == "other.py"

    def test_delete_removes_it(self, tmp_path):
        self.make().save(str(tmp_path), "mine")
        RunConfiguration.delete(str(tmp_path), "mine")
        with pytest.raises(UserError, match="no run configuration 'mine'"):
            RunConfiguration.load(str(tmp_path), "mine")

    def test_a_file_of_something_else_is_refused(self, tmp_path):
        path = tmp_path / "x.runconfig"
        path.write_text("- 1")
        with pytest.raises(UserError, match=r"x\.runconfig"):
            RunConfiguration.load(str(path))
