from __future__ import annotations

import sys

import pytest

from rookery.environments.specification.curated import (
    check_own_name,
    check_unedited,
    curated_environments,
    find_curated,
)
from rookery.environments.specification.curated_names import CURATED, TODAY
from rookery.errors import EnvironmentNotFoundError, UserError
from rookery.spec.names import is_reserved_environment
from rookery.spec.run import EnvironmentSpec

HERE = "python={}.{}".format(*sys.version_info)
# Names that real samples ask for.
ASKED_FOR = [
    "AzureML-PyTorch-1.6-GPU",
    "AzureML-Minimal",
    "AzureML-sklearn-1.0-ubuntu20.04-py38-cpu",
    "AzureML-TensorFlow-2.3-GPU",
    "AzureML-tensorflow-2.6-ubuntu20.04-py38-cuda11-gpu",
    "AzureML-Chainer-5.1.0-GPU",
    "AzureML-TensorFlow-1.13-GPU",
    "AzureML-TensorFlow-2.1-GPU",
    "azureml-acpt-pytorch-1.11-cuda11.3",
    "azureml-acpt-pytorch-1.13-cuda11.7",
    "azureml-acpt-pytorch-2.2-cuda12.1",
    "azureml-tensorflow-2.11-cuda11",
    "Rookery-PyTorch",
    "Rookery-sklearn",
    "Rookery-ONNX",
]


def dependencies(name):
    conda = find_curated(name).definition["python"]["condaDependencies"]
    return conda["dependencies"][0], conda["dependencies"][1]["pip"]


class TestNames:
    @pytest.mark.parametrize("name", ASKED_FOR)
    def test_every_one_resolves_and_says_what_it_is(self, name):
        found = find_curated(name)
        assert found.name == name
        assert found.definition["version"] == "1"
        assert found.maps_to.endswith(".")

    def test_capitals_do_not_count(self):
        assert find_curated("azureml-pytorch-1.6-gpu").name == "AzureML-PyTorch-1.6-GPU"

    def test_each_is_there_once_and_nobody_can_take_it(self):
        names = [entry.name.lower() for entry in CURATED]
        assert len(set(names)) == len(names)
        for entry in CURATED:
            assert entry.family in TODAY
            assert is_reserved_environment(entry.name) or entry.name.startswith("Rookery-")
            with pytest.raises(UserError, match="clone"):
                check_own_name(entry.name.upper())

    def test_an_unknown_one_lists_the_known(self):
        with pytest.raises(EnvironmentNotFoundError, match=r"AzureML-PyTorch-9.*Known: .*AzureML-Minimal"):
            find_curated("AzureML-PyTorch-9.0-GPU")

    def test_another_name_is_not_its_business(self):
        assert find_curated("mine") is None
        check_own_name("mine")

    @pytest.mark.parametrize("version", ["1", 1])
    def test_has_version_one(self, version):
        assert find_curated("AzureML-Minimal", version)
        with pytest.raises(EnvironmentNotFoundError, match="version '1'"):
            find_curated("AzureML-Minimal", "2")
        with pytest.raises(EnvironmentNotFoundError, match="label"):
            find_curated("AzureML-Minimal", label="prod")


class TestContent:
    def test_today_by_default(self):
        python, packages = dependencies("AzureML-PyTorch-1.6-GPU")
        assert python == HERE
        assert packages[:3] == ["azureml-defaults", "torch", "torchvision"]
        assert "curated_literal" in find_curated("AzureML-PyTorch-1.6-GPU").maps_to

    def test_literally_where_asked(self, monkeypatch):
        monkeypatch.setenv("ROOKERY_CURATED_LITERAL", "true")
        python, packages = dependencies("AzureML-PyTorch-1.6-GPU")
        assert python == "python=3.6.2"
        assert {"torch==1.6.0", "torchvision==0.7.0"} <= set(packages)
        assert "torch==1.6.0" in find_curated("AzureML-PyTorch-1.6-GPU").maps_to
        assert dependencies("Rookery-PyTorch")[0] == HERE  # ours have no past

    def test_a_framework_that_has_ended_is_always_literal(self):
        python, packages = dependencies("AzureML-Chainer-5.1.0-GPU")
        assert (python, packages[1]) == ("python=3.6.2", "chainer==5.1.0")
        assert "has ended" in find_curated("AzureML-Chainer-5.1.0-GPU").maps_to

    @pytest.mark.parametrize("literal", ["0", "1"])
    def test_the_builder_can_read_every_one(self, monkeypatch, literal):
        from rookery.environments.specification.wanted import from_conda

        monkeypatch.setenv("ROOKERY_CURATED_LITERAL", literal)
        for found in curated_environments():
            wanted = from_conda(found.definition["python"]["condaDependencies"])
            assert wanted.python
            assert not wanted.conda


class TestEdited:
    def spec(self, **fields):
        conda = find_curated("AzureML-Minimal").definition["python"]["condaDependencies"]
        return EnvironmentSpec(**{"name": "AzureML-Minimal", "version": "1", "conda": conda, **fields})

    def test_as_it_is_it_runs(self, monkeypatch):
        check_unedited(self.spec())
        check_unedited(self.spec(variables={"A": "1"}))
        check_unedited(EnvironmentSpec(name="mine", conda={"dependencies": ["numpy"]}))
        given = self.spec()
        monkeypatch.setenv("ROOKERY_CURATED_LITERAL", "1")
        check_unedited(given)

    @pytest.mark.parametrize(
        "fields", [{"conda": {"dependencies": ["numpy"]}}, {"conda": None}, {"user_managed": True}]
    )
    def test_changed_it_must_be_a_clone(self, fields):
        with pytest.raises(UserError, match="clone"):
            check_unedited(self.spec(**fields))
