"""search_runs: filters, order, pages."""

import math

import pytest
from mlflow.entities import ViewType
from mlflow.exceptions import MlflowException


@pytest.fixture
def runs(client, experiment):
    made = {}
    for i, name in enumerate(("a", "b", "c", "d")):
        run = client.create_run(
            experiment.experiment_id,
            run_name=name,
            start_time=1_700_000_000_000 + i,
            tags={"half": "lower" if i < 2 else "Upper"},
        )
        run_id = run.info.run_id
        client.log_metric(run_id, "x", i)
        client.log_metric(run_id, "with space", 10 - i)
        client.log_param(run_id, "p", f"v{i}")
        made[name] = run_id
    client.set_terminated(made["a"], "FINISHED")
    client.set_terminated(made["b"], "FAILED")
    client.log_metric(made["d"], "only d", 1)
    return made


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "dcba"),
        ("metrics.x > 1", "dc"),
        ("metrics.x >= 1 and metrics.x < 3", "cb"),
        ("metric.x != 2", "dba"),
        ("metrics.x = 2.0", "c"),
        ("metrics.x <= 1e0", "ba"),
        ("metrics.x > -1", "dcba"),
        ("metrics.`with space` > 8", "ba"),
        ('metrics."with space" = 7', "d"),
        ("metrics.`only d` = 1", "d"),
        ("metrics.none = 1", ""),
        ("params.p = 'v1'", "b"),
        ('params.p = "v1"', "b"),
        ("param.p != 'v1'", "dca"),
        ("parameters.p LIKE 'v%'", "dcba"),
        ("params.p LIKE 'V%'", ""),
        ("params.p ILIKE 'V%'", "dcba"),
        ("params.p LIKE '_2'", "c"),
        ("tags.half = 'lower'", "ba"),
        ("tags.half LIKE 'upp%'", ""),
        ("tag.half ilike 'upp%'", "dc"),
        ("tags.none IS NULL", "dcba"),
        ("tags.half IS NOT NULL AND params.p IS NOT NULL", "dcba"),
        ("attributes.status = 'RUNNING'", "dc"),
        ("status != 'RUNNING'", "ba"),
        ("attribute.status = 'FINISHED' and tags.half = 'lower'", "a"),
        ("run_name = 'c'", "c"),
        ("attributes.`run name` LIKE '%'", "dcba"),
        ("tags.mlflow.runName = 'b'", "b"),
        ("tags.`mlflow.runName` IN_ERROR 'b'", None),
        ("start_time > 1700000000001", "dc"),
        ("created <= 1700000000001", "ba"),
        ("end_time > 0", "ba"),
        ("metrics.x > 0 OR metrics.x < 0", None),
        ("metrics.x > 'a'", None),
        ("params.p = 1", None),
        ("params.p > 'a'", None),
        ("nonsense.p = 'a'", None),
        ("attributes.nonsense = 'a'", None),
        ("metrics.x", None),
        ("metrics.x >", None),
        ("metrics.x > 1 and", None),
        ("params.p = 'unclosed", None),
        ("status IN ('RUNNING')", None),
        ("'; DROP TABLE runs; --", None),
    ],
)
def test_filters(client, experiment, runs, text, names):
    if names is None:
        with pytest.raises(MlflowException) as error:
            client.search_runs([experiment.experiment_id], text)
        assert error.value.error_code == "INVALID_PARAMETER_VALUE"
        return
    found = client.search_runs([experiment.experiment_id], text)
    assert "".join(r.info.run_name for r in found) == names


def test_run_ids_in_a_list(client, experiment, runs):
    text = f"attributes.run_id IN ('{runs['a']}', '{runs['c']}')"
    assert [r.info.run_name for r in client.search_runs([experiment.experiment_id], text)] == ["c", "a"]
    text = f"run_id NOT IN ('{runs['a']}')"
    assert [r.info.run_name for r in client.search_runs([experiment.experiment_id], text)] == ["d", "c", "b"]
    assert [r.info.run_name for r in client.search_runs([experiment.experiment_id], f"run_id = '{runs['b']}'")] == ["b"]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (["metrics.x"], "abcd"),
        (["metrics.x DESC"], "dcba"),
        (["metrics.`with space` asc"], "dcba"),
        (["params.p DESC"], "dcba"),
        (["tags.half", "metrics.x DESC"], None),
        (["attributes.start_time ASC"], "abcd"),
        (["start_time"], "abcd"),
        (["run_name DESC"], "dcba"),
        (["metrics.`only d`", "metrics.x"], "dabc"),
        (["metrics.`only d` DESC", "metrics.x"], "dabc"),
    ],
)
def test_order(client, experiment, runs, order, names):
    found = "".join(r.info.run_name for r in client.search_runs([experiment.experiment_id], order_by=order))
    assert found == names if names else set(found) == set("abcd")


@pytest.mark.parametrize("bad", ["metrics.x sideways", "metrics.x DESC DESC", "nonsense", "nonsense.x"])
def test_orders_that_are_none(client, experiment, bad):
    with pytest.raises(MlflowException) as error:
        client.search_runs([experiment.experiment_id], order_by=[bad])
    assert error.value.error_code == "INVALID_PARAMETER_VALUE"


def test_nan_is_last_but_before_nothing(client, experiment):
    for name, value in (("one", 1.0), ("nan", math.nan), ("inf", math.inf), ("none", None)):
        run = client.create_run(experiment.experiment_id, run_name=name)
        if value is not None:
            client.log_metric(run.info.run_id, "v", value)
    names = lambda order: [r.info.run_name for r in client.search_runs([experiment.experiment_id], order_by=[order])]  # noqa: E731
    assert names("metrics.v ASC") == ["one", "inf", "nan", "none"]
    assert names("metrics.v DESC") == ["inf", "one", "nan", "none"]


def test_pages(client, experiment):
    made = [client.create_run(experiment.experiment_id, start_time=i + 1).info.run_id for i in range(7)]
    token, seen = None, []
    while True:
        page = client.search_runs([experiment.experiment_id], max_results=3, page_token=token)
        seen += [r.info.run_id for r in page]
        token = page.token
        if not token:
            break
    assert seen == made[::-1]
    with pytest.raises(MlflowException, match="page token"):
        client.search_runs([experiment.experiment_id], page_token="nonsense")


def test_several_experiments_and_views(client, experiment):
    other = client.create_experiment(experiment.name + "-other")
    first, second = client.create_run(experiment.experiment_id), client.create_run(other)
    both = [experiment.experiment_id, other]
    assert {r.info.run_id for r in client.search_runs(both)} == {first.info.run_id, second.info.run_id}
    client.delete_run(second.info.run_id)
    assert len(client.search_runs(both)) == 1
    assert len(client.search_runs(both, run_view_type=ViewType.ALL)) == 2
    assert client.search_runs([]) == []
