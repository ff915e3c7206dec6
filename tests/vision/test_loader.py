"""Decoding, the decoded cache, batches, and the learning rate."""

from __future__ import annotations

import io
import json
import os

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from rookery_vision.classification import cache as cache_module
from rookery_vision.classification.augment import resized_shape
from rookery_vision.classification.cache import DecodedCache, cache_root, content_key
from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.ranks import global_batches, my_share
from rookery_vision.classification.schedule import rate_at
from rookery_vision.errors import InvalidDatasetError
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import Preprocessing
from rookery_vision.pictures import decode as decoding
from rookery_vision.pictures import decoders


def jpeg(width, height, **more):
    stream = io.BytesIO()
    noise = numpy.random.default_rng(0).integers(0, 255, (height // 8 + 1, width // 8 + 1, 3), dtype=numpy.uint8)
    Image.fromarray(noise).resize((width, height)).save(stream, "JPEG", quality=90, **more)
    return stream.getvalue()


class TestDecode:
    def test_all_decoders_give_the_same(self):
        data = jpeg(123, 77)
        expected = decoders.decode_with("pillow", data, None).astype(int)
        for name in decoders.available():
            assert numpy.abs(decoders.decode_with(name, data, None) - expected).max() <= 2

    @pytest.mark.parametrize("name", decoders.ORDER)
    def test_decodes_to_a_smaller_size_but_never_below(self, name, monkeypatch):
        if name not in decoders.available():
            name = "pillow"  # the others are for whoever has them installed
        monkeypatch.setattr(decoders, "_settled", name)
        picture = decoding.decode(jpeg(1600, 1200), short_edge=256)
        assert 256 <= min(picture.shape[:2]) < 600 or name == "torchvision"
        assert decoding.decode(jpeg(100, 80), short_edge=256).shape == (80, 100, 3)

    @pytest.mark.parametrize("name", decoders.ORDER)
    def test_the_shape_that_comes_is_known_beforehand(self, name, monkeypatch):
        monkeypatch.setattr(decoders, "_settled", name if name in decoders.available() else "pillow")
        sizes = ((1600, 1200, 160), (500, 375, 160), (500, 375, 188), (500, 375, 320), (333, 517, 40), (50, 41, 60))
        for width, height, least in sizes:
            picture = decoding.decode(jpeg(width, height), short_edge=least)
            assert picture.shape[:2] == decoders.shape_of(height, width, least)
            soonest = decoders.shape_of(height, width, least, 1.5 * least)
            assert decoding.decode(jpeg(width, height), short_edge=min(soonest)).shape[:2] == soonest
            assert min(soonest) >= min(picture.shape[:2])

    def test_a_half_is_a_half_though_it_is_rounded_up(self, monkeypatch):
        monkeypatch.setattr(decoders, "_settled", "pillow")
        assert decoders.shape_of(375, 500, 160) == (188, 250)
        assert decoding.decode(jpeg(500, 375), short_edge=188).shape == (188, 250, 3)

    def test_the_whole_comes_sooner_than_seven_eighths(self, monkeypatch):
        monkeypatch.setattr(decoders, "_settled", "simplejpeg")
        assert decoders.shape_of(375, 500, 320) == (329, 438)
        assert decoders.shape_of(375, 500, 320, 480) == (375, 500)
        assert decoders.shape_of(375, 500, 200, 300) == (235, 313)  # the whole would be too much

    def test_the_fastest_is_chosen_and_kept(self, monkeypatch, tmp_path):
        monkeypatch.setenv("ROOKERY_VISION_PROBES", str(tmp_path))
        monkeypatch.setattr(decoders, "_settled", None)
        decoders._fastest.cache_clear()
        try:
            first = decoders.chosen()
            assert first in decoders.available()
            if len(decoders.available()) > 1:
                told = json.loads(next(tmp_path.glob("decoder-*.json")).read_text())
                assert set(told["answer"]["times_ms"]) == set(decoders.available())
                slow = max(told["answer"]["times_ms"], key=told["answer"]["times_ms"].get)
                told["answer"]["chosen"] = slow
                next(tmp_path.glob("decoder-*.json")).write_text(json.dumps(told))
                decoders._fastest.cache_clear()
                assert decoders.chosen() == slow  # what was found is kept, not measured again
        finally:
            decoders._fastest.cache_clear()

    def test_a_training_that_goes_on_keeps_its_decoder(self, monkeypatch):
        monkeypatch.setattr(decoders, "_settled", None)
        decoders.settle("pillow")
        assert decoders.chosen() == "pillow"
        decoders.settle("one that is not here")
        assert decoders.chosen() in decoders.available()

    def test_four_colours(self):
        stream = io.BytesIO()
        Image.new("CMYK", (20, 10), (10, 20, 30, 40)).save(stream, "JPEG")
        assert decoding.decode(stream.getvalue()).shape == (10, 20, 3)

    def test_rubbish(self):
        for data in (b"", b"\xff\xd8\xff\xe0rubbish", b"text"):
            with pytest.raises((OSError, ValueError)):
                decoding.decode(data)


class TestPictureSet:
    def make(self, folder, crop=None, **more):
        prep = Preprocessing(resize=crop and crop + 4, crop=crop)
        return PictureSet(ImageDirectory.read(folder), prep, **more)

    @pytest.mark.parametrize("crop", [None, 32])
    def test_batches_with_and_without_cache_are_the_same(self, image_directory, crop):
        made = []
        for with_cache in (True, False):
            pictures = self.make(image_directory, crop, augmentation="Crop and flip", seed=3, with_cache=with_cache)
            for epoch in (0, 1, 1, None):
                batches = list(pictures.batches([[3, 20, 5], [7]], epoch))
                made.append([b.batch_NHWC for b in batches])
            pictures.close()
        for one, other in zip(made[:4], made[4:]):
            assert all(numpy.array_equal(a, b) for a, b in zip(one, other))
        assert numpy.array_equal(made[1][0], made[2][0])  # the same epoch, the same pictures
        assert not numpy.array_equal(made[0][0], made[1][0])
        assert made[0][0].shape == (3, crop or 40, crop or 40, 3)

    def test_pictures_to_cut_parts_of_are_kept_larger(self, tmp_path):
        from rookery_vision import convert_to_image_directory
        from tests.vision.pictures import save

        save(tmp_path / "in" / "dog" / "1.png", (100, 80))
        save(tmp_path / "in" / "dog" / "2.png", (40, 38))
        save(tmp_path / "in" / "dog" / "3.png", (10, 20))
        folder = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        cut, whole = self.make(folder, 32, augmentation="Crop and flip"), self.make(folder, 32)
        assert cut.cache.shapes == [(45, 56), (38, 40), (72, 36)]  # 36 × 1.25; no larger than it is; 36 at least
        assert whole.cache.shapes == [(36, 45), (36, 37), (72, 36)]
        for pictures in (cut, whole):
            assert [pictures.picture(i).shape for i in range(3)] == [(32, 32, 3)] * 3
            pictures.close()

    def test_a_jpeg_is_kept_as_the_decoder_gives_it(self, tmp_path, monkeypatch):
        from rookery_vision import convert_to_image_directory
        from tests.vision.pictures import save

        monkeypatch.setattr(decoders, "_settled", "pillow")
        save(tmp_path / "in" / "dog" / "1.jpg", (110, 96))  # halves are what is wanted, 45, and a little
        save(tmp_path / "in" / "dog" / "2.jpg", (90, 80))  # whole is too much
        folder = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        pictures = self.make(folder, 32, augmentation="Crop and flip")
        assert pictures.cache.shapes == [(48, 55), (45, 50)]
        next(pictures.batches([[0, 1]], epoch=0))
        assert [pictures.picture(i).shape for i in range(2)] == [(32, 32, 3)] * 2
        pictures.close()

    @pytest.mark.parametrize("size", [(500, 375), (1600, 1200)])
    def test_what_the_network_gets_is_what_torchvision_makes(self, draw_birds, tmp_path, size):
        """Decoded to size and cut from what is kept: within two of 255 levels of the whole picture resized, and as sharp."""
        import random

        from rookery_vision import convert_to_image_directory
        from rookery_vision.classification.augment import crop_and_flip
        from rookery_vision.stack import torchvision

        (tmp_path / "in" / "turkeys").mkdir(parents=True)
        path = tmp_path / "in" / "turkeys" / "1.jpg"
        draw_birds.draw_bird(random.Random(1), 1, 192).resize(size).save(path, quality=90)
        folder = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        prep = Preprocessing(resize=128, crop=112)
        with Image.open(path) as picture:
            whole = numpy.asarray(picture.convert("RGB"))
            middle = torchvision.transforms.CenterCrop(112)(torchvision.transforms.Resize(128)(picture.convert("RGB")))
        pairs = []
        for how in ("None", "Crop and flip"):
            pictures = PictureSet(ImageDirectory.read(folder), prep, augmentation=how, seed=5, with_cache=False)
            if how == "None":
                pairs.append((pictures.picture(0), numpy.asarray(middle)))
            for epoch in range(8 if how != "None" else 0):
                chance = numpy.random.default_rng((5, epoch, pictures.directory.rows[0].id))
                pairs.append((pictures.picture(0, epoch), crop_and_flip(whole, 112, chance)))
            pictures.close()
        ours, theirs = (numpy.stack(one).astype(float) for one in zip(*pairs))
        assert numpy.abs(ours[0] - theirs[0]).mean() < 2
        assert numpy.abs(ours - theirs).mean() < 2
        ours, theirs = (numpy.abs(numpy.diff(one, axis=2)).mean() for one in (ours, theirs))
        assert ours / theirs == pytest.approx(1, abs=0.12)

    def test_the_second_time_nothing_is_decoded(self, image_directory, monkeypatch):
        first = self.make(image_directory, 32)
        expected = [b.batch_NHWC for b in first.batches([range(24)])]
        first.close()

        def no_decoding(*args, **more):
            raise AssertionError("decoded again")

        monkeypatch.setattr(ImageDirectory, "decode", no_decoding)
        second = self.make(image_directory, 32)
        assert numpy.array_equal(next(second.batches([range(24)])).batch_NHWC, expected[0])
        second.close()

    def test_the_cache_is_addressed_by_content(self, image_directory, parts):
        keys = set()
        for folder in (image_directory, parts[0]):
            directory = ImageDirectory.read(folder)
            paths = [directory.path(r) for r in directory.rows]
            keys |= {content_key(paths, "a"), content_key(paths, "b"), content_key(paths, "a")}
        assert len(keys) == 4

    def test_different_sizes(self, tmp_path):
        from rookery_vision import convert_to_image_directory
        from tests.vision.pictures import save

        save(tmp_path / "in" / "dog" / "1.png", (10, 12))
        save(tmp_path / "in" / "dog" / "2.png", (12, 10))
        folder = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        with pytest.raises(InvalidDatasetError, match=r"pictures of 2 sizes .* Init Image Transformation"):
            self.make(folder)
        pictures = self.make(folder, 8)
        assert next(pictures.batches([[0, 1]])).batch_NHWC.shape == (2, 8, 8, 3)
        pictures.close()

    def test_a_picture_that_has_gone(self, image_directory, tmp_path):
        import shutil

        shutil.copytree(image_directory, tmp_path / "d")
        os.remove(tmp_path / "d" / "image" / "0_3.jpg")
        with pytest.raises(InvalidDatasetError, match=r"0_3\.jpg"):
            self.make(str(tmp_path / "d"))
        pictures = self.make(str(tmp_path / "d"), with_cache=False)
        with pytest.raises(InvalidDatasetError, match=r"0_3\.jpg cannot be read"):
            list(pictures.batches([[0, 1, 2, 3]]))
        pictures.close()


class TestCache:
    def test_two_at_once_see_each_others_pictures(self):
        shapes = [(3, 4), (5, 2)]
        one, two = DecodedCache.open("k", shapes), DecodedCache.open("k", shapes)
        picture = numpy.arange(30, dtype=numpy.uint8).reshape(5, 2, 3)
        assert two.get(1) is None
        one.put(1, picture)
        assert numpy.array_equal(two.get(1), picture)
        assert two.get(0) is None
        one.close()
        two.close()

    def test_no_room_no_cache(self, monkeypatch):
        monkeypatch.setattr(cache_module, "FREE_SHARE", 0.0)
        assert DecodedCache.open("k", [(100, 100)]) is None

    def test_the_oldest_goes_when_there_are_too_many_but_not_one_in_use(self, monkeypatch):
        monkeypatch.setattr(cache_module, "KEEP_BYTES", 1)
        used = DecodedCache.open("used", [(64, 64)])
        used.put(0, numpy.ones((64, 64, 3), dtype=numpy.uint8))
        old = DecodedCache.open("old", [(64, 64)])
        old.put(0, numpy.ones((64, 64, 3), dtype=numpy.uint8))
        old.close()
        DecodedCache.open("new", [(64, 64)]).close()
        assert set(os.listdir(cache_root())) == {"used", "new"}
        used.close()


class TestShapes:
    @given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 512))
    def test_the_shorter_edge_is_what_was_asked_for(self, height, width, edge):
        shape = resized_shape(height, width, edge)
        assert min(shape) == edge
        assert (shape[0] >= shape[1]) == (height >= width) or shape[0] == shape[1]


class TestSteps:
    @given(st.integers(1, 200), st.integers(1, 16), st.integers(1, 4), st.integers(0, 3))
    def test_every_picture_once_over_all_processes(self, count, size, world, epoch):
        groups = global_batches(count, size, world, seed=1, epoch=epoch)
        shares = [my_share(g, rank, world) for g in groups for rank in range(world)]
        seen = [int(i) for share in shares for i in share]
        assert len(seen) == len(set(seen))
        left = count - len(seen)
        assert left < 2 * world
        assert left == 0 or len(groups) == count // (size * world)
        for g in groups:
            parts = [len(my_share(g, rank, world)) for rank in range(world)]
            assert max(parts) - min(parts) <= 1

    def test_another_order_in_every_epoch(self):
        first, second = (numpy.concatenate(global_batches(50, 8, 1, 1, e)).tolist() for e in (0, 1))
        assert first != second
        assert sorted(first) == sorted(second) == list(range(50))


class TestRate:
    def test_polynomial_decay_from_the_first_epoch(self):
        rates = [rate_at(e, 5, 0, 0.1) for e in (0, 1, 2.5, 5)]
        assert rates == pytest.approx([0.1, 0.1 * 0.8**2, 0.1 * 0.25, 1e-7], abs=1e-6)

    def test_warm_up_is_counted_in_epochs(self):
        assert rate_at(0, 10, 2, 0.1) == pytest.approx(1e-4)
        assert rate_at(1, 10, 2, 0.1) == pytest.approx((1e-4 + 0.1) / 2)
        assert rate_at(2, 10, 2, 0.1) == pytest.approx(0.1)

    @given(st.floats(0, 20), st.integers(1, 20), st.integers(0, 25), st.floats(1e-9, 10))
    def test_is_always_between_nothing_and_the_peak(self, done, epochs, warmup, peak):
        assert 0 < rate_at(min(done, epochs), epochs, warmup, peak) <= peak * (1 + 1e-9)
