"""The configuration of a tuning, in v1's words: what is refused when it is made, and what the keeper is asked for."""

from __future__ import annotations

import warnings

import pytest

from rookery.azureml.train.hyperdrive import (
    BanditPolicy,
    BayesianParameterSampling,
    GridParameterSampling,
    HyperDriveConfig,
    MedianStoppingPolicy,
    NoTerminationPolicy,
    PrimaryMetricGoal,
    RandomParameterSampling,
    TruncationSelectionPolicy,
    choice,
    loguniform,
    normal,
    qlognormal,
    quniform,
    randint,
    uniform,
)
from rookery.azureml.train.hyperdrive.exceptions import (
    HyperDriveConfigException,
    HyperDriveException,
)
from rookery.errors import RunConfigError, UserError
from rookery.sdk import ScriptRunConfig
from rookery.sdk.policy import AshaPolicy

SPACE = {"lr": uniform(0, 1)}
MAXIMIZE = PrimaryMetricGoal.MAXIMIZE


def config(sampling=None, total=10, **fields):
    fields.setdefault("run_config", ScriptRunConfig(".", "train.py"))
    return HyperDriveConfig(sampling or RandomParameterSampling(SPACE), "accuracy", MAXIMIZE, total, **fields)


class TestExpressions:
    def test_are_a_name_and_arguments(self):
        assert choice(1, 2) == choice([1, 2]) == choice(range(1, 3)) == ["choice", [[1, 2]]]
        assert choice([[1, 2], [3]]) == ["choice", [[[1, 2], [3]]]]
        assert (randint(5), quniform(1, 9, 2)) == (["randint", [5]], ["quniform", [1, 9, 2]])
        assert qlognormal(0, 1, 3) == ["qlognormal", [0, 1, 3]]

    def test_numbers_of_numpy_travel_as_numbers(self):
        numpy = pytest.importorskip("numpy")
        assert choice(numpy.float64(0.5), numpy.int64(3)) == ["choice", [[0.5, 3]]]

    def test_a_mistake_is_said_where_it_is_made(self):
        with pytest.raises(UserError, match="min_value must be below max_value"):
            uniform(1, 0)
        with pytest.raises(UserError, match="logarithms"):
            loguniform(0.001, 1000)


class TestSampling:
    def test_grid_and_bayesian_take_some_distributions_only(self):
        with pytest.raises(HyperDriveConfigException, match="takes choice only; parameter 'lr' is uniform"):
            GridParameterSampling(SPACE)
        with pytest.raises(HyperDriveException, match="parameter 'x' is normal"):
            BayesianParameterSampling({"x": normal(0, 1)})

    def test_properties_are_seed_and_rule(self):
        plan = config(RandomParameterSampling(SPACE, properties={"seed": 7, "rule": "sobol"})).plan()
        assert (plan.seed, plan.rule, plan.sampler) == (7, "sobol", "random")
        with pytest.raises(HyperDriveConfigException, match="no property 'sed'"):
            RandomParameterSampling(SPACE, properties={"sed": 7})

    def test_as_plain_data(self):
        assert RandomParameterSampling(SPACE).to_json() == {"name": "RANDOM", "parameter_space": SPACE}


class TestPolicies:
    def test_as_plain_data(self):
        assert BanditPolicy(slack_factor=0.1, delay_evaluation=5).to_json() == {
            "name": "Bandit", "properties": {"evaluation_interval": 1, "slack_factor": 0.1, "delay_evaluation": 5},
        }  # fmt: skip
        assert NoTerminationPolicy().to_json() == {"name": "Default"}
        assert MedianStoppingPolicy(2).evaluation_interval == 2
        assert TruncationSelectionPolicy(20).truncation_percentage == 20

    @pytest.mark.parametrize(
        "make",
        [
            lambda: BanditPolicy(),
            lambda: BanditPolicy(slack_factor=0.1, slack_amount=0.1),
            lambda: BanditPolicy(slack_factor=0.1, evaluation_interval=0),
            lambda: MedianStoppingPolicy(delay_evaluation=-1),
            lambda: TruncationSelectionPolicy(0),
            lambda: AshaPolicy(reduction_factor=1),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, make):
        with pytest.raises(HyperDriveConfigException):
            make()


class TestConfig:
    def test_the_plan_has_all_of_it(self):
        plan = config(policy=BanditPolicy(slack_amount=1), max_concurrent_runs=3, max_duration_minutes=60).plan()
        assert (plan.goal, plan.policy, plan.policy_options["slack_amount"], plan.concurrency) == (
            "maximize",
            "bandit",
            1,
            3,
        )
        assert (plan.max_duration_minutes, plan.seed) == (60.0, None)

    def test_as_many_at_a_time_as_there_are_where_nothing_is_said(self):
        assert config(total=7).plan().concurrency == 7
        assert config(total=500).plan().concurrency == 100

    def test_exactly_one_thing_is_tuned(self):
        with pytest.raises(HyperDriveConfigException, match="none was given"):
            config(run_config=None)
        with pytest.raises(HyperDriveConfigException, match="run_config and pipeline was given"):
            config(pipeline=object())
        with pytest.raises(HyperDriveConfigException, match="Give a Pipeline"):
            config(run_config=None, pipeline=object())
        with pytest.raises(HyperDriveConfigException, match="Give a ScriptRunConfig"):
            config(run_config="train.py")

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"total": 0}, "from 1 to 1000"),
            ({"total": 1001}, "from 1 to 1000"),
            ({"total": 1.5}, "whole number"),
            ({"max_concurrent_runs": 0}, "from 1 to 100"),
            ({"max_duration_minutes": -1}, "above 0"),
            ({"policy": "bandit"}, "Give a BanditPolicy"),
            ({"resume_from": ["a", "a"]}, "twice"),
            ({"resume_from": list("abcdef")}, "5 are allowed"),
            ({"resume_from": [3]}, "is no run"),
        ],
    )
    def test_limits(self, fields, words):
        with pytest.raises(HyperDriveConfigException, match=words) as caught:
            config(**fields)
        assert isinstance(caught.value, RunConfigError)

    def test_too_long_is_cut_with_a_warning(self):
        with pytest.warns(UserWarning, match="10080"):
            assert config(max_duration_minutes=99999).plan().max_duration_minutes == 10080

    def test_bayesian_wants_many_runs_and_few_at_a_time(self):
        with pytest.warns(UserWarning, match="at least 20"):
            config(BayesianParameterSampling(SPACE), total=19, max_concurrent_runs=2)
        with pytest.warns(UserWarning, match="at most 20"):
            config(BayesianParameterSampling(SPACE), total=100, max_concurrent_runs=21)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            config(BayesianParameterSampling(SPACE), total=20, max_concurrent_runs=20)

    def test_bayesian_has_no_early_termination(self):
        with pytest.raises(HyperDriveConfigException, match="no early termination"):
            config(BayesianParameterSampling(SPACE), total=20, policy=MedianStoppingPolicy())

    def test_goals(self):
        assert PrimaryMetricGoal.from_str("minimize") is PrimaryMetricGoal.MINIMIZE
        with pytest.raises(HyperDriveConfigException, match="Known: MAXIMIZE, MINIMIZE"):
            PrimaryMetricGoal.from_str("best")

    def test_the_source_is_that_of_what_is_tuned(self):
        made = config()
        assert (made.source_directory, made.estimator, made.pipeline) == (".", None, None)
