"""From a table to a scored and evaluated model; what cannot be learned says so."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil

import numpy
import pandas
import pytest

import rookery_tabular as t
from rookery_tabular import catalog
from rookery_vision import evaluate_model
from rookery_vision.errors import by_id
from rookery_vision.formats.model_directory import ModelSpec, write_model_spec
from tests.tabular.check_columns import raises

CLASSIFIERS = [n for n in catalog.MODULES if n.startswith(("two_class", "multiclass"))]
REGRESSIONS = ["linear_regression", "decision_forest_regression", "boosted_decision_tree_regression"]
FEW = {"trees": 20}


@pytest.fixture(scope="module")
def people():
    """Something to find out from numbers, texts, times, switches and gaps."""
    chance = numpy.random.default_rng(0)
    count = 400
    age = chance.integers(18, 80, count).astype(float)
    city = chance.choice(["Bonn", "Kiel", "Ulm"], count)
    pay = 20 + age * 0.8 + (city == "Kiel") * 15 + chance.normal(0, 2, count)
    data = pandas.DataFrame(
        {
            "age": age,
            "city": city,
            "since": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(chance.integers(0, 2000, count), "D"),
            "owner": chance.random(count) > 0.5,
            "row": [f"p{i}" for i in range(count)],
            "pay": pay,
            "rich": numpy.where(pay > 65, "yes", "no"),
            "level": numpy.where(pay > 75, "high", numpy.where(pay > 55, "middle", "low")),
        }
    )
    data.loc[::17, "age"] = None
    data.loc[::19, "city"] = None
    return data


def learner(tables, name):
    card = getattr(t, name)
    own = {p.name for p in card.parameters}
    return card(tables.new(), **{n: v for n, v in FEW.items() if n in own})


def whole(tables, name, data, label):
    """(metrics, scored table, model folder) of half a table, learned from the other."""
    first, second = t.split_data(tables.put(data), tables.new(), tables.new(), stratify="" if label == "pay" else label)
    model = t.train_model(learner(tables, name), first, tables.new(), label_column=label)
    scored = t.score_model(model, second, tables.new())
    return tables.get(evaluate_model(scored, None, tables.new())).iloc[0], tables.get(scored), model


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(tables, people, name):
    is_binary = name.startswith("two_class")
    label = "rich" if is_binary else "level"
    data = people.drop(columns=["pay", "level" if is_binary else "rich"])
    metrics, scored, _ = whole(tables, name, data, label)
    assert metrics["Accuracy" if is_binary else "Overall_Accuracy"] > (0.85 if is_binary else 0.75)
    shares = [c for c in scored.columns if c.startswith("Scored Probabilities")]
    assert len(shares) == (1 if is_binary else 3)
    if is_binary:
        assert metrics["AUC"] > 0.9
        assert ((scored["Scored Probabilities"] > 0.5) == (scored["Scored Labels"] == "yes")).all()
    else:
        assert numpy.allclose(scored[shares].sum(axis=1), 1)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(tables, people, name):
    metrics, scored, _ = whole(tables, name, people.drop(columns=["rich", "level"]), "pay")
    assert metrics["Coefficient_of_Determination"] > 0.8
    assert "Scored Labels" in scored


def test_the_same_seed_gives_the_same_model(tables, people):
    data = people.drop(columns=["pay", "level"])
    first, second = (whole(tables, "two_class_boosted_decision_tree", data, "rich")[1] for _ in range(2))
    assert first["Scored Probabilities"].tolist() == second["Scored Probabilities"].tolist()


def test_labels_keep_their_kind(tables):
    for values in ([0, 1], [False, True], ["a", "b"], [1.0, 2.0]):
        data = {"x": [0.0, 1.0] * 20, "y": values * 20}
        model = t.train_model(
            learner(tables, "two_class_logistic_regression"), tables.put(data), tables.new(), label_column="y"
        )
        scored = t.score_model(model, tables.put(data), tables.new())
        assert tables.get(scored)["Scored Labels"].tolist() == values * 20
        assert math.isclose(tables.get(evaluate_model(scored, None, tables.new()))["Accuracy"][0], 1.0)


def test_scored_without_the_other_columns(tables):
    data = tables.put({"x": [0.0, 1.0] * 20, "y": [0.0, 10.0] * 20})
    model = t.train_model(learner(tables, "linear_regression"), data, tables.new(), label_column="y")
    assert list(tables.get(t.score_model(model, data, tables.new(), append=False)).columns) == ["y", "Scored Labels"]
    # What has no label can be scored; only evaluating needs it.
    scored = t.score_model(model, tables.put({"x": [0.5]}), tables.new())
    assert abs(tables.get(scored)["Scored Labels"][0] - 5) < 0.1
    raises("NotLabeledDataset", lambda: evaluate_model(scored, None, tables.new()))
    empty = t.score_model(model, tables.put({"x": pandas.Series([], dtype=float)}), tables.new())
    assert len(tables.get(empty)) == 0


def test_hostile_tables(tables):
    inf = {"x": [1.0, math.inf, -math.inf, math.nan] * 10, "huge": [1e308, -1e308, 0.0, 1.0] * 10, "y": ["a", "b"] * 20}
    for name in CLASSIFIERS[:3]:
        model = t.train_model(learner(tables, name), tables.put(inf), tables.new(), label_column="y")
        scored = tables.get(t.score_model(model, tables.put(inf), tables.new()))
        assert scored["Scored Probabilities"].between(0, 1).all()
    # A text that was not there in training, a column of another kind, one that is gone.
    data = {"c": ["x", "y"] * 10, "n": [1, 2] * 10, "y": ["a", "b"] * 10}
    model = t.train_model(
        learner(tables, "two_class_decision_forest"), tables.put(data), tables.new(), label_column="y"
    )
    assert len(tables.get(t.score_model(model, tables.put({"c": ["new", None], "n": [None, 3]}), tables.new()))) == 2
    raises("ColumnNotFound", lambda: t.score_model(model, tables.put({"c": ["x"]}), tables.new()), "'n'")
    raises("InvalidColumnType", lambda: t.score_model(model, tables.put({"c": ["x"], "n": ["1"]}), tables.new()), "'n'")


def test_what_cannot_be_learned(tables):
    two = learner(tables, "two_class_logistic_regression")
    line = learner(tables, "linear_regression")

    def fit(data, untrained=two, label="y"):
        return lambda: t.train_model(untrained, tables.put(data), tables.new(), label_column=label)

    raises("ColumnNotFound", fit({"x": [1, 2], "z": [1, 2]}), "'y'")
    raises("LabelColumnDoesNotHaveLabeledPoints", fit({"x": [1, 2], "y": [None, None]}), "'y'")
    raises("TooFewRowsInDataset", fit({"x": [1, 2], "y": ["a", None]}))
    raises("InvalidTrainingDataset", fit({"x": [1, 2], "y": ["a", "a"]}), "one value only")
    raises("ColumnUniqueValuesExceeded", fit({"x": [1, 2, 3], "y": ["a", "b", "c"]}), "multiclass")
    raises("TooFewFeatureColumnsInDataset", fit({"y": ["a", "b"]}))
    raises("InvalidColumnType", fit({"x": [1, 2], "y": ["a", "b"]}, line), "classifier")
    raises("BadNumberOfSelectedColumns", fit({"x": [1], "y": [1]}, line, "x,y"), "2 columns")
    net = tables.new()
    os.makedirs(net)
    write_model_spec(net, ModelSpec("ResNet", {"model_name": "resnet18"}))
    raises("InvalidLearner", fit({"x": [1, 2], "y": ["a", "b"]}, net), "Train PyTorch Model")
    raises("InvalidModelDirectory", lambda: t.score_model(net, tables.put({"x": [1]}), tables.new()))
    raises("UntrainedModel", lambda: t.score_model(two, tables.put({"x": [1]}), tables.new()))


def test_a_damaged_model(tables):
    data = tables.put({"x": [0.0, 1.0] * 20, "y": [0.0, 10.0] * 20})
    model = t.train_model(learner(tables, "linear_regression"), data, tables.new(), label_column="y")
    broken = tables.new()
    shutil.copytree(model, broken)
    with open(os.path.join(broken, "model.joblib"), "wb") as f:
        f.write(b"nonsense")
    raises("UnableToDeserializeModel", lambda: t.score_model(broken, data, tables.new()), "scikit-learn")
    os.remove(os.path.join(broken, "features.json"))
    raises("InvalidModelDirectory", lambda: t.score_model(broken, data, tables.new()), "Train the model again")


def test_a_service_answers_for_it(tables, people, monkeypatch):
    data = people.drop(columns=["pay", "level"])
    _, _, model = whole(tables, "two_class_decision_forest", data, "rich")
    monkeypatch.setenv("AZUREML_MODEL_DIR", model)
    spec = importlib.util.spec_from_file_location("score", os.path.join(model, "score.py"))
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.init()
    with open(os.path.join(model, "_samples.json")) as f:
        samples = json.load(f)
    answer = script.run(json.dumps({"data": samples}))
    assert [set(row) for row in answer["result"]] == [{"Scored Labels", "Scored Probabilities"}] * 3
    assert script.run(json.dumps(samples)) == answer
    assert script.run(json.dumps({"Inputs": {"WebServiceInput0": samples}})) == answer
    with pytest.raises(ValueError, match="list of rows"):
        script.run("[1]")
    with pytest.raises(by_id("ColumnNotFound")):
        script.run('[{"nothing": 1}]')


def test_the_sample_of_the_gallery(tables):
    """Houses: made up, cleaned, learned from; the same seed gives the same table."""
    houses = t.sample_table(tables.new(), rows=300)
    assert tables.get(houses).equals(tables.get(t.sample_table(tables.new(), rows=300)))
    assert tables.get(houses).isna().sum().sum() > 10
    clean, _ = t.clean_missing_data(
        houses, tables.new(), tables.new(), columns="type:number", mode="Replace with median"
    )
    metrics, _, _ = whole(
        tables, "boosted_decision_tree_regression", tables.get(clean).rename(columns={"price": "pay"}), "pay"
    )
    assert metrics["Coefficient_of_Determination"] > 0.7
