"""Score Image Model and Evaluate Model."""

from __future__ import annotations

import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

from rookery_vision import convert_to_image_directory, errors, evaluate_model, score_image_model
from rookery_vision.evaluation import curves, metrics
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.table import Column, read_table, write_table
from tests.vision.pictures import folder_of, read_json

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def scored(trained, parts, tmp_path_factory):
    return score_image_model(trained, parts[1], str(tmp_path_factory.mktemp("scored") / "s"))


@pytest.fixture
def table(tmp_path):
    def write(task=None, **columns):
        folder = tmp_path / f"table{len(os.listdir(tmp_path))}"
        folder.mkdir()
        made = [Column(name.replace("_", " "), values) for name, values in columns.items()]
        write_table(str(folder), made, task)
        return str(folder)

    return write


class TestScore:
    def test_columns(self, scored, parts):
        found = read_table(scored)
        assert list(found.columns) == [
            "category", "id", "Scored Probabilities_chickens", "Scored Probabilities_turkeys", "Scored Labels",
        ]  # fmt: skip
        rows = ImageDirectory.read(parts[1]).rows
        assert found.columns["id"].values == [r.id for r in rows]
        assert found.columns["category"].values == [r.category for r in rows]
        for a, b, label in zip(*(found.columns[n].values for n in list(found.columns)[2:])):
            assert a + b == pytest.approx(1.0, abs=1e-5)
            assert label == ("chickens" if a >= b else "turkeys")

    def test_the_schema_and_what_is_shown(self, scored):
        schema = read_json(scored, "_schema.json")
        assert (schema["label"], schema["score_task"]) == ("category", "MultiClassification")
        look = read_json(scored, "_visualization.json")
        assert (look["num_rows"], len(look["rows"]), look["columns"][0]["unique"]) == (8, 8, 2)

    def test_pictures_without_categories(self, trained, birds, tmp_path):
        plain = convert_to_image_directory(os.path.join(birds, "turkeys"), str(tmp_path / "d"))
        found = read_table(score_image_model(trained, plain, str(tmp_path / "s")))
        assert next(iter(found.columns)) == "id"
        assert len(found.columns["Scored Labels"].values) == 12

    def test_an_untrained_model(self, untrained, parts, tmp_path):
        with pytest.raises(errors.UntrainedModelError):
            score_image_model(untrained, parts[1], str(tmp_path / "s"))

    def test_something_else_as_a_model(self, parts, tmp_path):
        with pytest.raises(errors.InvalidModelDirectoryError):
            score_image_model(parts[0], parts[1], str(tmp_path / "s"))


class TestEvaluate:
    def test_of_birds(self, scored, tmp_path, in_a_run):
        found = read_table(evaluate_model(scored, None, str(tmp_path / "e")))
        names = ["Overall_Accuracy", "Micro_Precision", "Macro_Precision", "Micro_Recall", "Macro_Recall"]
        assert list(found.columns) == names
        assert all(len(c.values) == 1 for c in found.columns.values())
        logged = {r[2]: r[3] for r in in_a_run.records() if r[0] == "m"}
        assert logged == {name: found.columns[name].values[0] for name in names}
        pictures = [r[2] for r in in_a_run.records() if r[0] == "d" and r[3] == "image"]
        assert pictures == ["left_port_confusion_matrix"]
        assert os.path.getsize(tmp_path / "e" / "left_port_confusion_matrix.png") > 1000

    def test_two_of_them(self, scored, tmp_path, in_a_run):
        found = read_table(evaluate_model(scored, scored, str(tmp_path / "e")))
        assert [len(c.values) for c in found.columns.values()] == [2] * 5
        logged = {r[2] for r in in_a_run.records() if r[0] == "m"}
        assert {"Overall_Accuracy (left port)", "Overall_Accuracy (right port)"} <= logged

    def test_by_column_names(self, table, tmp_path):
        made = table(Labels=["a", "b", "b", None], Multi_Class_Scored_Labels=["a", "b", "a", "a"])
        found = read_table(evaluate_model(made, None, str(tmp_path / "e")))
        assert found.columns["Overall_Accuracy"].values == [pytest.approx(2 / 3)]

    def test_binary(self, table, tmp_path):
        made = table(
            Labels=[0, 0, 1, 1],
            Binary_Class_Scored_Labels=[0, 1, 1, 1],
            Binary_Class_Scored_Probabilities=[0.1, 0.6, 0.5, 0.9],
        )
        found = read_table(evaluate_model(made, None, str(tmp_path / "e")))
        values = {name: column.values[0] for name, column in found.columns.items()}
        assert values == pytest.approx({"Accuracy": 0.75, "Precision": 2 / 3, "Recall": 1.0, "F1": 0.8, "AUC": 0.75})

    def test_curves_of_a_binary_score(self, table, tmp_path, in_a_run):
        made = table(
            Labels=["no", "no", "yes", "yes"],
            Binary_Class_Scored_Labels=["no", "yes", "yes", "yes"],
            Binary_Class_Scored_Probabilities=[0.1, 0.6, 0.5, 0.9],
        )
        evaluate_model(made, None, str(tmp_path / "e"))
        found = read_json(tmp_path / "e", "left_port_curves.json")
        assert found["positive_label"] == "yes"
        assert found["roc_curve"] == {
            "False positive rate": [0.0, 0.0, 0.5, 0.5, 1.0],
            "True positive rate": [0.0, 0.5, 0.5, 1.0, 1.0],
        }
        assert found["precision_recall_curve"]["Precision"] == pytest.approx([1.0, 1 / 2, 2 / 3, 1 / 2])
        assert found["lift_curve"]["True positives"] == [0, 1, 1, 2, 2]
        first = found["scored_bins"][0]
        assert (first["Score bin from"], first["Positive examples"], first["Recall"]) == (0.9, 1, 0.5)
        assert found["scored_bins"][-1]["Fraction above threshold"] == 1.0
        names = {"confusion_matrix", "roc_curve", "precision_recall_curve", "lift_curve"}
        pictures = {r[2] for r in in_a_run.records() if r[0] == "d" and r[3] == "image"}
        assert pictures == {"left_port_" + name for name in names}
        for name in names:
            assert os.path.getsize(tmp_path / "e" / f"left_port_{name}.png") > 1000

    def test_curves_of_one_kind_alone(self, table, tmp_path):
        made = table(
            Labels=["yes", "yes"],
            Binary_Class_Scored_Labels=["yes", "yes"],
            Binary_Class_Scored_Probabilities=[0.5, 0.5],
        )
        evaluate_model(made, None, str(tmp_path / "e"))
        assert read_json(tmp_path / "e", "left_port_curves.json")["roc_curve"]["True positive rate"] == [0.0, 1.0]

    def test_regression(self, table, tmp_path):
        made = table(Labels=[1.0, 2.0, 3.0], Regression_Scored_Labels=[1.5, 2.0, 2.0])
        found = read_table(evaluate_model(made, None, str(tmp_path / "e")))
        assert found.columns["Mean_Absolute_Error"].values == [pytest.approx(0.5)]
        assert found.columns["Coefficient_of_Determination"].values == [pytest.approx(1 - 1.25 / 2)]

    def test_clustering(self, tmp_path):
        os.makedirs(tmp_path / "t")
        columns = {
            "Assignments": [0, 0, 1],
            "DistancesToClusterCenter no.0": [1.0, 3.0, 9.0],
            "DistancesToClusterCenter no.1": [5.0, 7.0, 2.0],
        }
        write_table(str(tmp_path / "t"), [Column(n, v) for n, v in columns.items()])
        found = read_table(evaluate_model(str(tmp_path / "t"), None, str(tmp_path / "e")))
        assert found.columns["Average Distance to Cluster Center"].values == [2.0, 2.0, 2.0]
        assert found.columns["Average Distance to Other Center"].values == [6.0, 9.0, 7.0]
        assert found.columns["Maximal Distance to Cluster Center"].values == [3.0, 2.0, 3.0]

    def test_thirty_categories_have_no_picture(self, table, tmp_path):
        names = [str(i) for i in range(30)]
        evaluate_model(table(Labels=names, Multi_Class_Scored_Labels=names), None, str(tmp_path / "e"))
        assert not (tmp_path / "e" / "left_port_confusion_matrix.png").exists()


class TestRefused:
    def test_no_scores(self, table, tmp_path):
        with pytest.raises(errors.NotScoredDatasetError):
            evaluate_model(table(Labels=["a"]), None, str(tmp_path / "e"))

    def test_no_labels(self, table, trained, birds, tmp_path):
        with pytest.raises(errors.NotLabeledDatasetError):
            evaluate_model(table(Multi_Class_Scored_Labels=["a"]), None, str(tmp_path / "e"))

    def test_all_labels_missing(self, table, tmp_path):
        with pytest.raises(errors.LabelColumnDoesNotHaveLabeledPointsError):
            evaluate_model(table(Labels=[None, None], Multi_Class_Scored_Labels=["a", "b"]), None, str(tmp_path / "e"))

    def test_different_kinds(self, table, tmp_path):
        a = table(Labels=["a"], Multi_Class_Scored_Labels=["a"])
        b = table(Labels=[1.0], Regression_Scored_Labels=[1.0])
        with pytest.raises(errors.LearnerTypesNotCompatibleError):
            evaluate_model(a, b, str(tmp_path / "e"))

    def test_not_a_table(self, parts, tmp_path):
        with pytest.raises(errors.InvalidDatasetError, match="is not a table"):
            evaluate_model(parts[0], None, str(tmp_path / "e"))

    def test_a_damaged_table(self, scored, tmp_path):
        import shutil

        shutil.copytree(scored, tmp_path / "t")
        (tmp_path / "t" / "data.parquet").write_bytes(b"PAR1rubbish")
        with pytest.raises(errors.InvalidDatasetError, match="damaged"):
            evaluate_model(str(tmp_path / "t"), None, str(tmp_path / "e"))


class TestCurves:
    @given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
    def test_the_area_below_roc_is_the_auc(self, rows):
        truth, scores = [t for t, _ in rows], [p / 5 for _, p in rows]
        found = curves.roc(truth, scores)
        x, y = found["False positive rate"], found["True positive rate"]
        area = sum((b - a) * (c + d) / 2 for a, b, c, d in zip(x, x[1:], y, y[1:]))
        expected = metrics.area_under_curve(truth, scores)
        if not math.isnan(expected):
            assert area == pytest.approx(expected)
        bins = curves.binned(truth, scores)
        assert sum(b["Positive examples"] for b in bins) == sum(truth)
        assert sum(b["Negative examples"] for b in bins) == len(truth) - sum(truth)
        assert bins[-1]["Recall"] == (1.0 if any(truth) else 0.0)

    def test_a_long_curve_is_thinned(self):
        from rookery_vision.evaluation.looking import NUM_POINTS, _thinned

        thin = _thinned({"x": list(range(5000))})["x"]
        assert (len(thin), thin[0], thin[-1]) == (NUM_POINTS, 0, 4999)


class TestMetrics:
    @given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=60))
    def test_multi_class_by_counting(self, pairs):
        actual, said = [a for a, _ in pairs], [s for _, s in pairs]
        found = metrics.multi_class(actual, said)
        known = sorted({*actual, *said})
        recall = [sum(s == c for a, s in pairs if a == c) / n if (n := actual.count(c)) else 0 for c in known]
        assert found["Macro_Recall"] == pytest.approx(sum(recall) / len(known))
        assert found["Overall_Accuracy"] == found["Micro_Recall"] == sum(a == s for a, s in pairs) / len(pairs)
        matrix = metrics.confusion_matrix(actual, said, known)
        assert [sum(row) for row in matrix] == [actual.count(c) for c in known]

    @given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30))
    def test_area_under_the_curve_by_comparing_pairs(self, rows):
        ups, downs = [p for t, p in rows if t], [p for t, p in rows if not t]
        found = metrics.area_under_curve([t for t, _ in rows], [float(p) for _, p in rows])
        if not ups or not downs:
            assert math.isnan(found)
            return
        wins = sum((u > d) + (u == d) / 2 for u in ups for d in downs)
        assert found == pytest.approx(wins / (len(ups) * len(downs)))


def test_single_size_is_needed_without_a_crop(untrained, tmp_path):
    """A model that takes pictures as they are says what to do with pictures of several sizes."""
    from rookery_vision import train_pytorch_model

    alike = convert_to_image_directory(
        folder_of(tmp_path / "in", {"dog": 2, "cat": 2}, size=(32, 32)), str(tmp_path / "d")
    )
    model = train_pytorch_model(untrained, alike, alike, str(tmp_path / "m"), epochs=1, batch_size=2)
    folder_of(tmp_path / "other", {"dog": 1}, size=(32, 32))
    folder_of(tmp_path / "other", {"cat": 1}, size=(40, 32))
    other = convert_to_image_directory(str(tmp_path / "other"), str(tmp_path / "o"))
    with pytest.raises(errors.InvalidDatasetError, match="Init Image Transformation"):
        score_image_model(model, other, str(tmp_path / "s"))
