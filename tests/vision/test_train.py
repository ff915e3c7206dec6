"""Train PyTorch Model: what it refuses, what it logs, what it keeps, and that the same seed gives the same weights."""

from __future__ import annotations

import os
import shutil
from types import SimpleNamespace

import numpy
import pytest
import torch
from PIL import Image

from rookery_vision import convert_to_image_directory, errors, train_pytorch_model
from rookery_vision.classification import checkpoint, train
from rookery_vision.classification.network import Amp
from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.result import Best
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import Preprocessing, read_labels, read_model_spec, read_state
from tests.vision.pictures import folder_of, read_json

pytestmark = pytest.mark.usefixtures("one_thread")
QUICK = {"epochs": 2, "batch_size": 8, "learning_rate": 0.01, "image_size": 32}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class TestTrained:
    def test_the_folder(self, trained):
        spec = read_model_spec(trained, is_trained=True)
        assert (spec.model_name, spec.num_classes, spec.image_size) == ("resnet18", 2, (32, 32))
        assert (spec.preprocessing.resize, spec.preprocessing.crop) == (37, 32)
        assert spec.training["best_epoch"] in (1, 2)
        assert read_labels(trained) == ["chickens", "turkeys"]
        assert read_state(trained)["fc.weight"].shape == (2, 512)
        names = {
            "score.py",
            "conda.yaml",
            "conda_env.yaml",
            "_schema.json",
            "_samples.json",
            "model_spec.yaml",
            "index_to_label.csv",
        }
        assert names < set(os.listdir(trained))

    def test_the_same_seed_gives_the_same_weights(self, trained, untrained, parts, tmp_path):
        again = train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **QUICK)
        assert same(read_state(again), read_state(trained))
        other = train_pytorch_model(untrained, *parts, str(tmp_path / "n"), **{**QUICK, "epochs": 1}, random_seed=2)
        assert not same(read_state(other), read_state(trained))

    @pytest.mark.slow
    def test_it_learns(self, untrained, tmp_path, capsys):
        """Dark and bright noise: whoever cannot tell them apart does not train at all."""
        chance = numpy.random.default_rng(0)
        for category, low in (("dark", 0), ("bright", 128)):
            os.makedirs(tmp_path / "in" / category)
            for i in range(16):
                noise = chance.integers(low, low + 128, (32, 32, 3), dtype=numpy.uint8)
                Image.fromarray(noise).save(tmp_path / "in" / category / f"{i}.png")
        data = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        options = {"epochs": 5, "batch_size": 4, "learning_rate": 0.003, "precision": "float32", "patience": 5}
        model = train_pytorch_model(untrained, data, data, str(tmp_path / "m"), **options)
        assert read_model_spec(model).training["top1_acc"] >= 0.9
        assert "the model is that of epoch" in capsys.readouterr().out

    def test_what_is_logged(self, untrained, parts, tmp_path, in_a_run):
        train_pytorch_model(
            untrained,
            *parts,
            str(tmp_path / "m"),
            **QUICK,
            augmentation="Crop and flip",
            mixup=0.2,
            label_smoothing=0.1,
        )
        rows = [r for r in in_a_run.records() if r[0] == "r"]
        columns = {
            "learning rate": "lr", "Train images per second": "train_ips", "Train loss": "train_loss", "Train error": "train_error",
            "Valid loss": "valid_loss", "Top-1 validation accuracy": "top1_acc", "Top-5 validation accuracy": "top5_acc",
            "Loader wait share": "wait_share",
        }  # fmt: skip
        assert {r[2] for r in rows} == set(columns)
        for name, column in columns.items():
            mine = [r[3] for r in rows if r[2] == name]
            assert [r["epoch"] for r in mine] == [1, 2]
            assert all(set(r) == {"epoch", column} for r in mine)
        assert all(r[3]["top5_acc"] == 1.0 for r in rows if r[2] == "Top-5 validation accuracy")  # of two categories
        data = {r[2]: r for r in in_a_run.records() if r[0] == "d"}
        pictures = {"Training pictures", "Training pictures, augmented", "Validation confusion matrix, drawn"}
        assert {*pictures, "Validation confusion matrix"} <= set(data)
        for name in pictures:
            assert data[name][3] == "image"
            with Image.open(in_a_run.uploads()[data[name][4]["artifact"]]) as drawn:
                assert min(drawn.size) > 100
        matrix = data["Validation confusion matrix"][4]["data"]
        assert matrix["class_labels"] == ["chickens", "turkeys"]
        assert [sum(row) for row in matrix["matrix"]] == [4, 4]
        assert "trained_model_outputs/state_dict.pt" in in_a_run.uploads()
        assert list(in_a_run.resume.iterdir()) == []  # a training that is done leaves no checkpoint

    def test_the_best_epoch_is_kept_not_the_last(self):
        best, network = Best(), torch.nn.Linear(1, 1)
        valid = {"top5": 1.0, "matrix": torch.zeros(1)}
        torch.nn.init.constant_(network.weight, 1.0)
        assert best.consider(0, {**valid, "top1": 0.8, "loss": 0.5}, network)
        torch.nn.init.constant_(network.weight, 2.0)
        assert not best.consider(1, {**valid, "top1": 0.7, "loss": 0.1}, network)
        assert best.weights["weight"].item() == 1.0
        assert best.consider(2, {**valid, "top1": 0.8, "loss": 0.4}, network)
        assert (best.epoch, best.weights["weight"].item()) == (2, 2.0)


class TestStopping:
    def test_early_by_patience(self, untrained, parts, tmp_path, capsys, monkeypatch):
        real = train.evaluate
        monkeypatch.setattr(train, "evaluate", lambda trainer: {**real(trainer), "loss": 1.0})
        train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **{**QUICK, "epochs": 9}, patience=1)
        out = capsys.readouterr().out
        assert "stopped after epoch 2: the validation loss has not fallen for 1 epochs" in out

    def test_a_loss_that_is_no_number(self, untrained, parts, tmp_path):
        with pytest.raises(errors.by_id("NaN"), match="Lower 'Learning rate'"):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **{**QUICK, "epochs": 9, "learning_rate": 1e30})

    @pytest.mark.slow
    @pytest.mark.parametrize("stop_at", [1, 2, 3])
    def test_interrupted_and_resumed_gives_the_same_weights(
        self, trained, untrained, parts, tmp_path, in_a_run, monkeypatch, capsys, stop_at
    ):
        """Two epochs of two steps: asked to stop after the first step, between the epochs, and in the second one."""
        asked = iter([False] * stop_at + [True])
        monkeypatch.setattr(checkpoint, "should_stop", lambda: next(asked))
        with pytest.raises(SystemExit) as left:
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **QUICK)
        assert left.value.code == 85
        assert len(list(in_a_run.resume.iterdir())) == 1
        monkeypatch.setattr(checkpoint, "should_stop", lambda: False)
        model = train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **QUICK)
        assert "going on in epoch" in capsys.readouterr().out
        assert same(read_state(model), read_state(trained))
        seen = [r[3]["train_loss"] for r in in_a_run.records() if r[0] == "r" and r[2] == "Train loss"]
        assert len(seen) == 2  # each epoch is told once

    def test_a_checkpoint_of_other_options_is_not_taken(
        self, untrained, parts, tmp_path, in_a_run, monkeypatch, capsys
    ):
        asked = iter([False, True])
        monkeypatch.setattr(checkpoint, "should_stop", lambda: next(asked))
        with pytest.raises(SystemExit):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **QUICK)
        monkeypatch.setattr(checkpoint, "should_stop", lambda: False)
        train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **{**QUICK, "epochs": 1}, random_seed=5)
        assert "going on" not in capsys.readouterr().out


class TestRefused:
    def test_something_else_as_a_model(self, parts, tmp_path):
        with pytest.raises(errors.InvalidModelDirectoryError):
            train_pytorch_model(parts[0], *parts, str(tmp_path / "m"))

    def test_without_categories(self, untrained, parts, birds, tmp_path):
        plain = convert_to_image_directory(os.path.join(birds, "turkeys"), str(tmp_path / "d"))
        with pytest.raises(errors.NotLabeledDatasetError):
            train_pytorch_model(untrained, plain, parts[1], str(tmp_path / "m"))
        with pytest.raises(errors.NotLabeledDatasetError):
            train_pytorch_model(untrained, parts[0], plain, str(tmp_path / "m"))

    def test_other_categories_in_validation(self, untrained, parts, tmp_path):
        other = convert_to_image_directory(
            folder_of(tmp_path / "in", {"geese": 2, "turkeys": 1}, size=(40, 40)), str(tmp_path / "d")
        )
        with pytest.raises(errors.InvalidDatasetError, match="no pictures of: geese"):
            train_pytorch_model(untrained, parts[0], other, str(tmp_path / "m"))

    def test_no_pictures(self, untrained, parts, tmp_path):
        shutil.copytree(parts[0], tmp_path / "d")
        (tmp_path / "d" / "images.lst").write_text("")
        with pytest.raises(errors.InvalidDatasetError, match="has no pictures"):
            train_pytorch_model(untrained, str(tmp_path / "d"), parts[1], str(tmp_path / "m"))

    def test_a_batch_larger_than_the_data_set(self, untrained, parts, tmp_path):
        with pytest.raises(errors.LessThanOrEqualToError, match=r"'Batch size' is 17, and there are 16"):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), batch_size=17)

    def test_batches_of_one_on_small_pictures(self, untrained, parts, tmp_path):
        with pytest.raises(errors.GreaterThanOrEqualToError, match="at least 2"):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), batch_size=1, image_size=32)

    @pytest.mark.parametrize(
        ("parameter", "value"),
        [("epochs", 0), ("batch_size", 0), ("learning_rate", 0), ("patience", 0), ("print_frequency", 0)],
    )
    def test_bounds(self, untrained, parts, tmp_path, parameter, value):
        with pytest.raises(errors.GreaterThanError):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **{parameter: value})

    def test_a_single_category_trains(self, untrained, tmp_path):
        data = convert_to_image_directory(folder_of(tmp_path / "in", {"dog": 4}, size=(32, 32)), str(tmp_path / "d"))
        model = train_pytorch_model(untrained, data, data, str(tmp_path / "m"), epochs=1, batch_size=2)
        assert read_labels(model) == ["dog"]

    def test_validation_may_have_fewer_categories(self, untrained, parts, tmp_path):
        shutil.copytree(parts[1], tmp_path / "d")
        rows = [line for line in (tmp_path / "d" / "images.lst").read_text().splitlines() if "turkeys" in line]
        (tmp_path / "d" / "images.lst").write_text("\n".join(rows))
        assert {r.category for r in ImageDirectory.read(str(tmp_path / "d")).rows} == {"turkeys"}
        model = train_pytorch_model(
            untrained, parts[0], str(tmp_path / "d"), str(tmp_path / "m"), **{**QUICK, "epochs": 1}
        )
        assert read_labels(model) == ["chickens", "turkeys"]


class TestWebService:
    def test_score_py_answers_its_own_samples(self, trained, monkeypatch, tmp_path):
        import importlib.util
        import json

        spec = importlib.util.spec_from_file_location("score_of_model", os.path.join(trained, "score.py"))
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        monkeypatch.setenv("AZUREML_MODEL_DIR", trained)
        script.init()
        samples = read_json(trained, "_samples.json")
        answer = script.run(json.dumps(samples))
        assert len(answer["result"]) == 3
        assert sum(answer["result"][0][:2]) == pytest.approx(1.0, abs=1e-5)
        assert answer["result"][0][2] in ("chickens", "turkeys")


class TestSheet:
    def test_the_worst_mistakes(self, parts, in_a_run):
        """A network that says the first category of every picture is wrong about the four of the second."""
        from rookery.worker import Run
        from rookery_vision.classification.look import worst

        class First(torch.nn.Module):
            def forward(self, x_NCHW):
                return torch.tensor([[5.0, 0.0]]).expand(len(x_NCHW), 2)

        directory, prep = ImageDirectory.read(parts[1]), Preprocessing(resize=37, crop=32)
        pictures = PictureSet(directory, prep, directory.labels, with_cache=False)
        trainer = SimpleNamespace(
            network=First(),
            data=SimpleNamespace(prep=prep, categories=directory.categories),
            valid_set=pictures,
            amp=Amp("cpu", None),
            ranks=SimpleNamespace(device=torch.device("cpu")),
        )
        worst(Run.get_context(), trainer, SimpleNamespace(weights={}))
        pictures.labels[:] = 0
        worst(Run.get_context(), trainer, SimpleNamespace(weights={}))  # nothing is wrong now: no second sheet
        pictures.close()
        (logged,) = [r for r in in_a_run.records() if r[0] == "d"]
        assert logged[2:4] == ["Worst mistakes", "image"]
        with Image.open(in_a_run.uploads()[logged[4]["artifact"]]) as drawn:
            assert drawn.width == 6 + 4 * (112 + 6)

    def test_pictures_of_any_shape(self):
        from rookery_vision.classification.look import sheet

        shapes = [(1, 300, 3), (300, 1, 3), (40, 40, 3)] * 4
        drawn = sheet(
            [numpy.zeros(shape, dtype=numpy.uint8) for shape in shapes], ["turkeys 97%\nis 鶏, a very long name"] * 12
        )
        assert drawn.width > 8 * 112
        assert drawn.height > 2 * 112
