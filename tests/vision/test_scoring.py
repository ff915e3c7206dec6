"""Scoring pictures as they come: the same answer from torch and from ONNX Runtime, and no torch where there is an ONNX file."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys

import numpy
import pytest
from PIL import Image

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

from rookery_vision import errors, export_to_onnx, score_image_model
from rookery_vision.classification.prepare import normalized, prepared
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import Preprocessing
from rookery_vision.formats.table import read_table
from rookery_vision.onnx import open_model, score_picture

pytestmark = pytest.mark.usefixtures("one_thread")

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["torchvision"] = None  # whoever imports them fails
from rookery_vision.onnx import score_picture
with open(sys.argv[2], "rb") as f:
    print(score_picture(sys.argv[1], f.read())["label"])
"""


@pytest.fixture(scope="module")
def exported(trained, parts, tmp_path_factory):
    return export_to_onnx(trained, parts[1], str(tmp_path_factory.mktemp("onnx") / "o"))


@pytest.fixture
def bodies(parts):
    directory = ImageDirectory.read(parts[1])
    return [directory.read_bytes(row) for row in directory.rows]


def encoded(width, height, form="PNG", **more):
    noise = numpy.random.default_rng(0).integers(0, 255, (height // 8 + 1, width // 8 + 1, 3), dtype=numpy.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).resize((width, height)).save(stream, form, **more)
    return stream.getvalue()


class TestScoring:
    def test_both_runtimes_and_the_module_say_the_same(self, trained, exported, parts, bodies, tmp_path):
        table = read_table(score_image_model(trained, parts[1], str(tmp_path / "s")))
        by_torch, by_onnx = open_model(trained), open_model(exported)
        assert by_torch.categories == by_onnx.categories == ["chickens", "turkeys"]
        for one, other, expected in zip(
            by_torch.score(bodies), by_onnx.score(bodies), table.columns["Scored Probabilities_turkeys"].values
        ):
            assert one["probabilities"]["turkeys"] == pytest.approx(expected, abs=1e-4)
            assert other["probabilities"]["turkeys"] == pytest.approx(expected, abs=2e-3)
        assert [a["label"] for a in by_onnx.score(bodies)] == table.columns["Scored Labels"].values
        assert by_onnx.score([]) == []

    @pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "BMP"])
    def test_a_picture_of_any_size(self, exported, form):
        for size in ((500, 375), (33, 400), (32, 32), (5, 3)):
            answer = score_picture(exported, encoded(*size, form))
            assert sum(answer["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)

    def test_without_torch(self, exported, bodies, tmp_path):
        (tmp_path / "p.jpg").write_bytes(bodies[0])
        (tmp_path / "score.py").write_text(WITHOUT_TORCH)
        words = [sys.executable, str(tmp_path / "score.py"), exported, str(tmp_path / "p.jpg")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.split() == [open_model(exported).score(bodies[:1])[0]["label"]]

    def test_a_folder_above_it(self, exported, tmp_path, bodies):
        shutil.copytree(exported, tmp_path / "models" / "birds" / "1" / "onnx")
        assert open_model(str(tmp_path / "models")).folder.endswith("onnx")
        shutil.copytree(exported, tmp_path / "models" / "geese")
        with pytest.raises(errors.InvalidModelDirectoryError, match="holds 2 image models"):
            open_model(str(tmp_path / "models"))
        os.makedirs(tmp_path / "empty")
        with pytest.raises(errors.InvalidModelDirectoryError, match="holds 0 image models"):
            open_model(str(tmp_path / "empty"))

    def test_what_is_not_a_picture(self, exported, monkeypatch):
        model = open_model(exported)
        whole = encoded(300, 200, "JPEG")
        for body in (b"", b"hello", b"\xff\xd8\xff\xe0rubbish", encoded(64, 64)[:80]):
            with pytest.raises(errors.InvalidDatasetError, match="JPEG or PNG"):
                model.score([body])
        monkeypatch.setenv("ROOKERY_VISION_MAX_PIXELS", "1000")
        with pytest.raises(errors.ImageExceedsLimitError, match="300 × 200 pixels"):
            model.score([whole])

    def test_damaged_preprocessing(self, exported, tmp_path):
        shutil.copytree(exported, tmp_path / "o")
        (tmp_path / "o" / "preprocessing.json").write_text("{}")
        with pytest.raises(errors.InvalidModelDirectoryError, match="Export the model again"):
            open_model(str(tmp_path / "o"))


class TestPrepared:
    def test_as_training_does_it(self, parts):
        from rookery_vision.classification.pictures import PictureSet

        directory = ImageDirectory.read(parts[1])
        for prep in (Preprocessing(resize=37, crop=32), Preprocessing()):
            pictures = PictureSet(directory, prep, with_cache=False)
            for place, row in enumerate(directory.rows[:3]):
                mine = prepared(directory.read_bytes(row), prep, pictures.size)
                assert numpy.array_equal(mine, pictures.picture(place))
            pictures.close()

    def test_without_a_crop_it_covers_the_size(self):
        for size in ((500, 375), (20, 300), (64, 48)):
            assert prepared(encoded(*size), Preprocessing(), (48, 64)).shape == (48, 64, 3)
        assert prepared(encoded(20, 30), Preprocessing(), None).shape == (30, 20, 3)

    def test_the_arithmetic_is_that_of_training(self):
        import torch

        from rookery_vision.classification.network import to_input

        batch = numpy.random.default_rng(0).integers(0, 256, (2, 5, 4, 3), dtype=numpy.uint8)
        expected = to_input(batch, Preprocessing(), torch.device("cpu")).numpy()
        assert numpy.allclose(normalized(batch, Preprocessing()), expected, atol=1e-5)


class TestScript:
    @pytest.mark.parametrize("kind", ["trained", "exported"])
    def test_bytes_and_rows(self, kind, request, bodies, monkeypatch):
        folder = request.getfixturevalue(kind)
        spec = importlib.util.spec_from_file_location("score_" + kind, os.path.join(folder, "score.py"))
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        monkeypatch.setenv("AZUREML_MODEL_DIR", folder)
        script.init()
        answer = script.run(bodies[0])
        rows = [{"image": base64.b64encode(body).decode()} for body in bodies[:2]]
        for text in (json.dumps(rows), json.dumps({"data": rows}), json.dumps(rows).encode()):
            result = script.run(text)["result"]
            assert len(result) == 2
            assert result[0][-1] == answer["label"]
            assert result[0][:2] == pytest.approx(list(answer["probabilities"].values()), abs=1e-5)
        with pytest.raises(ValueError, match="not a list of rows"):
            script.run('[{"picture": 1}]')
