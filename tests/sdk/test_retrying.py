"""run_config.retries becomes fields of the RunSpec."""

import pytest

from rookery.errors import RunConfigError, UserError
from rookery.sdk import Retries, RunConfiguration
from rookery.sdk.retrying import retry_fields
from rookery.spec.run import EnvironmentSpec, RunSpec, check_run_spec


def fields(retries, **options):
    config = RunConfiguration()
    config.retries = retries
    return retry_fields(config, options)


class TestRetries:
    def test_without_a_word_lost_nodes_are_left_to_the_target(self):
        expected = {"retries_lost_node": None, "retries_user_error": 0, "min_node_count": None}
        assert fields(Retries()) == fields(None) == expected

    def test_both_budgets_and_the_least_number_of_nodes(self):
        assert fields(Retries(2, 1, 3)) == {"retries_lost_node": 2, "retries_user_error": 1, "min_node_count": 3}
        assert fields(Retries(), min_nodes=2)["min_node_count"] == 2

    @pytest.mark.parametrize("given", [3, "3", {"lost_node": 1}, Retries(lost_node="3"), Retries(user_error=True)])
    def test_refuses_what_is_no_number(self, given):
        with pytest.raises(UserError, match="retries"):
            fields(given)

    def test_survives_a_runconfig_file(self, tmp_path):
        config = RunConfiguration()
        config.retries = Retries(lost_node=5, user_error=2)
        config.save(str(tmp_path), "mine")
        loaded = RunConfiguration.load(str(tmp_path), "mine")
        assert (loaded.retries.lost_node, loaded.retries.user_error) == (5, 2)

    def test_a_misspelt_budget_is_named(self):
        with pytest.raises(AttributeError, match="lost_node"):
            Retries().lost_nodes = 3

    @pytest.mark.parametrize(
        "wrong", [{"retries_lost_node": -1}, {"retries_user_error": -1}, {"min_node_count": 0}, {"min_node_count": 3}]
    )
    def test_the_keeper_refuses_what_contradicts_itself(self, wrong):
        spec = RunSpec("r-1", "e", script="t.py", node_count=2, environment=EnvironmentSpec(python="/p"), **wrong)
        with pytest.raises(RunConfigError):
            check_run_spec(spec)
