"""Every module that takes pictures, on every kind of them: it does its work, or says which documented error it is and leaves nothing whole."""

from __future__ import annotations

import os

import pytest
from PIL import Image

from rookery_vision import (
    apply_image_transformation,
    convert_to_image_directory,
    errors,
    export_to_onnx,
    init_image_transformation,
    score_image_model,
    split_image_directory,
    train_pytorch_model,
)
from rookery_vision.formats.image_directory import ImageDirectory
from tests.vision.pictures import folder_of, save

pytestmark = pytest.mark.usefixtures("one_thread")
EDGE = 40

KINDS = ("labelled", "unlabelled", "empty", "one category", "corrupt", "huge")
DATA, LIMIT, LABELS = errors.InvalidDatasetError, errors.ImageExceedsLimitError, errors.NotLabeledDatasetError
# What comes of each kind: None is that it works.
EXPECTED = {
    "convert": (None, None, DATA, None, None, LIMIT),
    "split": (None, None, DATA, None, DATA, LIMIT),
    "apply": (None, None, DATA, None, DATA, LIMIT),
    "train": (None, LABELS, DATA, None, DATA, LIMIT),
    "score": (None, None, DATA, None, DATA, LIMIT),
    "export": (None, None, DATA, None, DATA, LIMIT),
}


@pytest.fixture
def module(request, untrained, trained, parts, tmp_path):
    """A function of an image directory (of a folder, for Convert) that gives the folders it writes to."""
    out = [str(tmp_path / "out1"), str(tmp_path / "out2")]

    def run(name, data):
        if name == "convert":
            convert_to_image_directory(data, out[0])
        elif name == "split":
            split_image_directory(data, *out, fraction=0.5)
        elif name == "apply":
            how = init_image_transformation(str(tmp_path / "how"), size=36, crop_size=32)
            apply_image_transformation(how, data, out[0], mode="For training")
        elif name == "train":
            validation = data if request.node.callspec.params["kind"] != "unlabelled" else parts[1]
            train_pytorch_model(
                untrained, data, validation, out[0], epochs=1, batch_size=2, image_size=32, precision="float32"
            )
        elif name == "score":
            score_image_model(trained, data, out[0])
        else:
            pytest.importorskip("onnxruntime")
            pytest.importorskip("onnxscript")
            export_to_onnx(trained, data, out[0])

    run.out = out
    return run


@pytest.fixture
def pictures(tmp_path):
    """A folder of one kind, as people have it, and as the image directory that comes of it."""

    def make(kind):
        folder = tmp_path / "in"
        if kind == "unlabelled":
            for i in range(4):
                save(folder / f"{i}.jpg", (EDGE, EDGE), (20 * i, 90, 90))
        elif kind == "empty":
            folder.mkdir()
        else:
            counts = {"dog": 4} if kind == "one category" else {"cat": 3, "dog": 3}
            folder_of(folder, counts, suffix=".jpg", size=(EDGE, EDGE))
        return str(folder), kind

    return make


def spoil(path, kind):
    """After it was listed: the file is not what it was."""
    if kind == "corrupt":
        with open(path, "wb") as f:
            f.write(b"\xff\xd8\xff\xe0 not a picture any more")
    elif kind == "huge":
        Image.new("RGB", (200, 200)).save(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*list(EXPECTED)[:-1], pytest.param("export", marks=pytest.mark.slow)])
def test_every_kind(name, kind, module, pictures, tmp_path, monkeypatch):
    folder, kind = pictures(kind)
    monkeypatch.setenv("ROOKERY_VISION_MAX_PIXELS", "10000")
    if name == "convert":
        spoil(os.path.join(folder, "dog", "1.jpg"), kind)
        data = folder
    elif kind == "empty":  # Convert makes none; a list that somebody has emptied is one
        source = folder_of(tmp_path / "other", {"cat": 1}, size=(EDGE, EDGE))
        data = convert_to_image_directory(source, str(tmp_path / "data"))
        with open(os.path.join(data, "images.lst"), "w"):
            pass
    else:
        data = convert_to_image_directory(folder, str(tmp_path / "data"))
        directory = ImageDirectory.read(data)
        spoil(directory.path(directory.rows[-1]), kind)
    expected = EXPECTED[name][KINDS.index(kind)]
    if expected is None:
        module(name, data)
        assert {"_meta.yaml", "model_spec.yaml"} & set(os.listdir(module.out[0]))
        return
    with pytest.raises(expected):
        module(name, data)
    for out in module.out:  # nothing that could be taken for whole
        there = set(os.listdir(out)) if os.path.isdir(out) else set()
        assert not {"_meta.yaml", "model_spec.yaml"} & there
