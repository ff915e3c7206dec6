"""Init and Apply Image Transformation: every operation is really done, inference leaves nothing to chance."""

from __future__ import annotations

import json
import os
import shutil

import numpy
import pytest
from PIL import Image

from rookery_vision import apply_image_transformation, convert_to_image_directory, init_image_transformation
from rookery_vision.errors import (
    InvalidDatasetError,
    InvalidTransformationDirectoryError,
    NotInRangeValueError,
    NullOrEmptyError,
)
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.transformation import read_transformation, write_transformation
from rookery_vision.transforms.operations import ALLOWED, compile_operations, for_inference
from tests.vision.pictures import read_json

OFF = {"resize": False, "center_crop": False, "random_horizontal_flip": False}


@pytest.fixture(scope="module")
def picture(tmp_path_factory, draw_birds):
    import random

    return draw_birds.draw_bird(random.Random(3), 1, 48)


@pytest.fixture
def init(tmp_path):
    def run(**parameters):
        return init_image_transformation(str(tmp_path / f"t{len(os.listdir(tmp_path))}"), **parameters)

    return run


class TestInit:
    def test_the_defaults(self, init):
        folder = init()
        assert read_transformation(folder) == [("Resize", 256), ("CenterCrop", 224), ("RandomHorizontalFlip", 0.5)]
        assert read_json(folder, "_transforms.json")[0] == ["Resize", 256]

    def test_all_of_them_in_their_order(self, init):
        names = [
            "pad",
            "color_jitter",
            "grayscale",
            "random_resized_crop",
            "random_crop",
            "random_vertical_flip",
            "random_rotation",
        ]
        names += ["random_affine", "random_grayscale", "random_perspective", "random_erasing"]
        found = [name for name, _ in read_transformation(init(**dict.fromkeys(names, True)))]
        assert found == list(ALLOWED)

    def test_degrees_have_bounds(self, init):
        with pytest.raises(NotInRangeValueError, match="Random rotation degrees"):
            init(random_rotation=True, random_rotation_degrees=181)


@pytest.mark.parametrize(
    ("parameters", "size"),
    [
        ({"resize": True, "size": 24}, (24, 24)),
        ({"center_crop": True, "crop_size": 20}, (20, 20)),
        ({"pad": True, "padding": 3}, (54, 54)),
        ({"color_jitter": True}, (48, 48)),
        ({"grayscale": True}, (48, 48)),
        ({"random_resized_crop": True, "random_size": 16}, (16, 16)),
        ({"random_crop": True, "random_crop_size": 30}, (30, 30)),
        ({"random_horizontal_flip": True}, (48, 48)),
        ({"random_vertical_flip": True}, (48, 48)),
        ({"random_rotation": True, "random_rotation_degrees": 90}, (48, 48)),
        ({"random_affine": True, "random_affine_degrees": 90}, (48, 48)),
        ({"random_grayscale": True}, (48, 48)),
        ({"random_perspective": True}, (48, 48)),
        ({"random_erasing": True}, (48, 48)),
    ],
    ids=lambda p: next(iter(p)) if isinstance(p, dict) else "",
)
class TestEachOperation:
    def test_changes_pictures(self, init, picture, parameters, size):
        import torch

        run = compile_operations(read_transformation(init(**{**OFF, **parameters})))
        before, changed = numpy.asarray(picture), False
        for seed in range(60):  # what is done to one in ten shows within these, always the same ones
            torch.manual_seed(seed)
            after = run(picture)
            assert (after.size, after.mode) == (size, "RGB")
            changed = changed or not numpy.array_equal(numpy.asarray(after), before)
        assert changed

    def test_is_left_out_of_inference_when_random(self, init, parameters, size):
        operations = read_transformation(init(**{**OFF, **parameters}))
        is_random = next(iter(parameters)).startswith("random") or "color_jitter" in parameters
        assert for_inference(operations) == ([] if is_random else operations)


class TestApply:
    def test_for_inference(self, init, image_directory, tmp_path):
        folder = init(size=32, crop_size=30, random_vertical_flip=True, color_jitter=True)
        apply_image_transformation(folder, image_directory, str(tmp_path / "out"), mode="For inference")
        made, before = ImageDirectory.read(str(tmp_path / "out")), ImageDirectory.read(image_directory)
        assert made.categories == before.categories
        assert [(r.id, r.category) for r in made.rows] == [(r.id, r.category) for r in before.rows]
        assert made.rows[-1].file_name == "1_23.png"
        with Image.open(made.path(made.rows[0])) as picture:
            assert (picture.format, picture.size) == ("PNG", (30, 30))
        expected = before.open_image(before.rows[5]).resize((32, 32), Image.Resampling.BILINEAR).crop((1, 1, 31, 31))
        assert numpy.array_equal(made.decode(made.rows[5]), numpy.asarray(expected))

    def test_the_same_twice(self, init, image_directory, tmp_path):
        folder = init(resize=False, center_crop=False, random_erasing=True, random_perspective=True, color_jitter=True)
        made = []
        for name in ("1", "2"):
            apply_image_transformation(folder, image_directory, str(tmp_path / name), mode="For training")
            directory = ImageDirectory.read(str(tmp_path / name))
            made.append([directory.read_bytes(row) for row in directory.rows])
        assert made[0] == made[1]

    def test_does_not_touch_the_callers_chance(self, init, image_directory, tmp_path):
        import torch

        torch.manual_seed(5)
        expected = torch.rand(3).tolist()
        torch.manual_seed(5)
        apply_image_transformation(init(size=8, crop_size=8), image_directory, str(tmp_path / "o"), mode="For training")
        assert torch.rand(3).tolist() == expected

    def test_the_mode_must_be_chosen(self, init, image_directory, tmp_path):
        with pytest.raises(NullOrEmptyError, match=r"'Mode' is missing. Allowed: For training, For inference"):
            apply_image_transformation(init(), image_directory, str(tmp_path / "out"))

    def test_a_crop_that_is_larger_than_the_picture(self, init, image_directory, tmp_path):
        for parameters in ({"resize": False}, {**OFF, "random_crop": True, "random_crop_size": 100}):
            with pytest.raises(
                InvalidDatasetError, match=r"0_0\.jpg: .* is larger than the picture, which has 40 × 40"
            ):
                apply_image_transformation(
                    init(**parameters), image_directory, str(tmp_path / "o"), mode="For training"
                )
            shutil.rmtree(tmp_path / "o")

    def test_something_else_as_a_transformation(self, image_directory, tmp_path):
        with pytest.raises(InvalidTransformationDirectoryError, match="it is none at all"):
            apply_image_transformation(image_directory, image_directory, str(tmp_path / "o"), mode="For training")

    def test_another_kind_of_transformation(self, init, image_directory, tmp_path):
        folder = init()
        with open(os.path.join(folder, "_meta.yaml")) as f:
            text = f.read().replace("transform_type: Image", "transform_type: Pickle")
        with open(os.path.join(folder, "_meta.yaml"), "w") as f:
            f.write(text)
        with pytest.raises(InvalidTransformationDirectoryError, match="'Pickle'"):
            apply_image_transformation(folder, image_directory, str(tmp_path / "o"), mode="For training")

    @pytest.mark.parametrize(
        "operations",
        [
            [["TenCrop", 8]],
            [["Normalize", [[0.5], [0.5]]]],
            [["__import__", "os"]],
            [["Resize", {"sizes": 3}]],
            [["Lambda", None]],
            7,
            [["Resize"]],
        ],
        ids=str,
    )
    def test_operations_that_cannot_be_done(self, image_directory, tmp_path, operations):
        os.makedirs(tmp_path / "t")
        write_transformation(str(tmp_path / "t"), [])
        (tmp_path / "t" / "_transforms.json").write_text(json.dumps(operations))
        with pytest.raises(InvalidTransformationDirectoryError):
            apply_image_transformation(str(tmp_path / "t"), image_directory, str(tmp_path / "o"), mode="For training")

    def test_without_categories(self, init, tmp_path, birds):
        source = convert_to_image_directory(os.path.join(birds, "turkeys"), str(tmp_path / "d"))
        apply_image_transformation(init(size=8, crop_size=8), source, str(tmp_path / "o"), mode="For inference")
        assert ImageDirectory.read(str(tmp_path / "o")).categories is None
