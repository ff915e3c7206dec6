"""What callers of a vision service import from azureml.studio."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from rookery.azureml.studio.core.io.image_directory import IMG_EXTS, image_from_file, image_to_bytes
from rookery.azureml.studio.core.io.transformation_directory import ImageTransformationDirectory
from rookery.errors import UserError


def test_from_a_file_to_what_is_sent(tmp_path):
    Image.new("L", (40, 30), 99).save(tmp_path / "rook.png")
    transform = ImageTransformationDirectory.create(
        transforms=[("Resize", 20), ("CenterCrop", [16]), ("Grayscale", {"num_output_channels": 3})]
    ).torch_transform
    sent = image_to_bytes(transform(image_from_file(tmp_path / "rook.png")))
    picture = Image.open(io.BytesIO(sent))
    assert (picture.format, picture.size, picture.mode) == ("PNG", (16, 16), "RGB")
    assert ".png" in IMG_EXTS


def test_what_cannot_be(tmp_path):
    (tmp_path / "no.png").write_text("words")
    with pytest.raises(UserError, match="is no picture"):
        image_from_file(tmp_path / "no.png")
    with pytest.raises(UserError, match="no transform 'Rotat'"):
        ImageTransformationDirectory.create([("Rotat", 3)]).torch_transform  # noqa: B018
    with pytest.raises(UserError, match="7 is no transform"):
        ImageTransformationDirectory.create([7])
