from __future__ import annotations

import copy
import json

import pytest

from rookery.errors import RunConfigError, UserError
from rookery.sdk import Environment, RunConfiguration, ScriptRunConfig, Secret
from rookery.sdk.details import run_definition
from rookery.sdk.run_environment import environment_of_run
from rookery.sdk.submission import build_run_spec, submitted_secrets
from rookery.spec.plain import to_plain

VALUE = "hidden words"


class TestSecret:
    def test_shows_nothing(self):
        secret = Secret(VALUE)
        assert VALUE not in repr(secret) + str(secret) + f"{secret}" + format(secret) + repr({"A": secret})
        with pytest.raises(TypeError):
            json.dumps({"A": secret})
        assert secret.reveal() == VALUE
        assert copy.deepcopy(secret) == secret != Secret("other")

    def test_without_a_value_says_so(self):
        assert not Secret().is_known
        with pytest.raises(UserError, match="not known here"):
            Secret().reveal()

    def test_holds_text_only(self):
        with pytest.raises(UserError, match="int"):
            Secret(5)


class TestSubmission:
    @pytest.fixture
    def config(self, tmp_path):
        (tmp_path / "t.py").write_text("")
        environment = Environment("mine")
        environment.environment_variables = {"TOKEN": Secret(VALUE), "A": "1", "BOTH": Secret("old")}
        config = ScriptRunConfig(str(tmp_path), "t.py", environment=environment)
        config.run_config.environment_variables = {"KEY": Secret("of the run"), "BOTH": "plain"}
        return config

    def test_values_travel_apart_from_the_spec(self, config):
        spec = build_run_spec(config, run_id="r", experiment="e")
        assert spec.secrets == ("TOKEN", "KEY")
        assert spec.variables == {"TOKEN": "***", "A": "1", "BOTH": "plain", "KEY": "***"}
        assert spec.environment.variables == {"TOKEN": "***", "A": "1", "BOTH": "***"}
        assert submitted_secrets(config) == {"TOKEN": VALUE, "KEY": "of the run"}

    def test_no_view_of_the_run_has_them(self, config):
        plain = to_plain(build_run_spec(config, run_id="r", experiment="e"))
        assert VALUE not in json.dumps(plain) + json.dumps(run_definition(plain)) + repr(config.run_config)
        back = environment_of_run(plain["environment"]).environment_variables
        assert back["A"] == "1"
        assert not back["TOKEN"].is_known

    def test_a_saved_run_configuration_has_not_either(self, config, tmp_path):
        config.run_config.save(str(tmp_path), "mine")
        text = (tmp_path / ".azureml" / "mine.runconfig").read_text()
        assert VALUE not in text
        assert not RunConfiguration.load(str(tmp_path), "mine").environment_variables["KEY"].is_known

    def test_a_bad_name_is_refused_without_its_value(self, config):
        config.run_config.environment_variables = {"A=B": Secret(VALUE)}
        with pytest.raises(RunConfigError) as caught:
            build_run_spec(config, run_id="r", experiment="e")
        assert VALUE not in str(caught.value)
