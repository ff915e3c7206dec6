"""Configuration objects refuse misspelt attributes and go through plain data unchanged."""

from __future__ import annotations

import copy
import pickle

import pytest

from rookery.errors import UserError
from rookery.sdk.environment import Environment
from rookery.sdk.environment_sections import RCranPackage, RSection, SparkPackage
from rookery.sdk.run_config_elements import DockerConfiguration, HistoryConfiguration
from rookery.sdk.run_configuration import RunConfiguration


class TestAttributes:
    @pytest.mark.parametrize(
        "element",
        [
            RunConfiguration(),
            RunConfiguration().history,
            RunConfiguration().pytorch,
            Environment("e"),
            Environment("e").python,
            Environment("e").docker,
            Environment("e").docker.base_image_registry,
        ],
        ids=lambda e: type(e).__name__,
    )
    def test_an_unknown_one_is_refused_with_the_valid_names(self, element):
        with pytest.raises(AttributeError) as caught:
            element.intepreter = 1
        for name in element.attribute_names():
            assert name in str(caught.value)

    def test_a_property_counts_as_a_valid_name(self):
        assert "conda_dependencies_file" in Environment("e").python.attribute_names()

    def test_a_known_one_can_be_set(self):
        history = HistoryConfiguration()
        history.output_collection = False
        assert history.output_collection is False

    def test_a_subclass_may_add_its_own_in_init_only(self):
        class Mine(DockerConfiguration):
            def __init__(self):
                super().__init__()
                self.extra = 1

        mine = Mine()
        mine.extra = 2
        with pytest.raises(AttributeError):
            mine.other = 3

    @pytest.mark.parametrize(
        "again", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))], ids=["deepcopy", "pickle"]
    )
    def test_a_copy_is_closed_too(self, again):
        made = again(RunConfiguration(script="a.py"))
        assert made.script == "a.py"
        with pytest.raises(AttributeError):
            made.scirpt = "b.py"


class TestPlainData:
    def test_nested_and_optional_elements_come_back(self):
        environment = Environment("e")
        environment.spark.packages.append(SparkPackage("g", "a", "1"))
        environment.r = RSection()
        package = RCranPackage()
        package.name = "ggplot2"
        environment.r.cran_packages = [package]
        back = Environment.from_dict(environment.to_dict())
        assert back.to_dict() == environment.to_dict()
        assert isinstance(back.spark.packages[0], SparkPackage)
        assert isinstance(back.r, RSection)
        assert isinstance(back.r.cran_packages[0], RCranPackage)

    def test_unknown_keys_with_a_value_are_named(self):
        with pytest.warns(UserWarning, match="'colour' is not known"):
            HistoryConfiguration.from_dict({"outputCollection": False, "colour": "red"})

    def test_unknown_keys_without_a_value_say_nothing(self):
        assert HistoryConfiguration.from_dict({"outputCollection": False, "colour": None}).output_collection is False

    def test_something_that_is_no_mapping_is_refused(self):
        with pytest.raises(UserError, match="mapping"):
            HistoryConfiguration.from_dict([1])
