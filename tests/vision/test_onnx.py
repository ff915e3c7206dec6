"""Export to ONNX: the same answers as PyTorch's, or none at all."""

from __future__ import annotations

import copy
import os

import numpy
import pytest
import torch

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

from rookery_vision import errors, export_to_onnx  # noqa: E402
from rookery_vision.classification.score import Model  # noqa: E402
from rookery_vision.formats.image_directory import ImageDirectory  # noqa: E402
from rookery_vision.onnx import exporting  # noqa: E402
from tests.vision.pictures import read_json  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def exported(trained, parts, tmp_path_factory):
    return export_to_onnx(trained, parts[1], str(tmp_path_factory.mktemp("onnx") / "o"))


class TestExport:
    def test_one_file_that_answers_for_any_number_of_pictures(self, exported, trained, parts):
        assert {n for n in os.listdir(exported) if "onnx" in n} == {"model.onnx", "onnx_check.json"}
        session = onnxruntime.InferenceSession(os.path.join(exported, "model.onnx"), providers=["CPUExecutionProvider"])
        prep = read_json(exported, "preprocessing.json")
        directory = ImageDirectory.read(parts[1])
        expected = Model(trained).score(directory)
        for count in (1, 3, 8):
            # By hand, from nothing but preprocessing.json: what somebody without Rookery has to do.
            rows = [_prepared(directory.open_image(row), prep) for row in directory.rows[:count]]
            scores = session.run([prep["output"]], {prep["input"]: numpy.stack(rows)})[0]
            shares = numpy.exp(scores - scores.max(1, keepdims=True))
            assert numpy.allclose(shares / shares.sum(1, keepdims=True), expected[:count], atol=0.02)

    def test_the_check(self, exported):
        check = read_json(exported, "onnx_check.json")
        assert check["pictures"] == 8
        assert check["top1_agreement"] == 1.0
        assert check["largest_absolute_difference"] < 1e-3
        assert check["largest_relative_difference"] >= 0

    def test_labels_are_along(self, exported):
        assert {"index_to_label.csv", "model_spec.yaml", "_samples.json"} <= set(os.listdir(exported))


class TestRefused:
    @pytest.mark.slow
    def test_above_the_tolerance(self, trained, parts, tmp_path, monkeypatch):
        """What is written is not the network that was trained: ONNX Runtime says something else of the same pictures."""
        real = exporting._write

        def another(trained, path, size):
            other = copy.copy(trained)
            other.network = copy.deepcopy(trained.network)
            with torch.no_grad():
                other.network.fc.bias += torch.tensor([3.0, 0.0])
            real(other, path, size)

        monkeypatch.setattr(exporting, "_write", another)
        with pytest.raises(
            errors.by_id("FailedToCompleteOperation"), match=r"by 0\.\d+ in a probability .* was not kept"
        ):
            export_to_onnx(trained, parts[1], str(tmp_path / "o"))
        assert os.listdir(tmp_path / "o") == []

    def test_an_untrained_model(self, untrained, parts, tmp_path):
        with pytest.raises(errors.UntrainedModelError):
            export_to_onnx(untrained, parts[1], str(tmp_path / "o"))


def _prepared(picture, prep):
    from PIL import Image

    edge, crop = prep["resize_shorter_edge"], prep["center_crop"]
    side = (edge - crop) // 2
    picture = picture.resize((edge, edge), Image.Resampling.BILINEAR).crop((side, side, side + crop, side + crop))
    x = numpy.asarray(picture, dtype=numpy.float32) * prep["scale"]
    return ((x - prep["mean"]) / prep["std"]).transpose(2, 0, 1).astype(numpy.float32)
