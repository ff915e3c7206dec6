"""Split Image Directory: the sizes that were asked for, by category, always the same."""

from __future__ import annotations

import math
import os
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery_vision import convert_to_image_directory, split_image_directory
from rookery_vision.errors import InvalidDatasetError, NotInRangeValueError
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.splitting import choose
from tests.vision.pictures import folder_of, save


class TestChoose:
    @given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.floats(0.01, 0.99))
    def test_sizes_and_proportions(self, sizes, fraction):
        categories = [str(c) for c, size in enumerate(sizes) for _ in range(size)]
        count = len(categories)
        if not 1 / count <= fraction <= 1 - 1 / count:
            return
        chosen = choose(categories, fraction)
        wanted = math.floor(fraction * count + 1e-9)
        assert len(chosen) == len(set(chosen)) == wanted
        assert chosen == choose(categories, fraction)
        if min(sizes) >= 2 and len(sizes) <= min(wanted, count - wanted):
            got = Counter(categories[i] for i in chosen)
            for c, size in enumerate(sizes):
                assert 1 <= got[str(c)] < size
                # within one picture of its proportion, or at the edge of having at least one on each side
                assert abs(got[str(c)] - wanted * size / count) <= len(sizes)

    def test_each_category_in_proportion(self):
        got = Counter(
            "abc"[0 if i < 100 else 1 if i < 150 else 2] for i in choose(["a"] * 100 + ["b"] * 50 + ["c"] * 10, 0.9)
        )
        assert got == {"a": 90, "b": 45, "c": 9}

    def test_a_category_with_one_picture_is_split_anyhow(self):
        assert len(choose(["a"] * 9 + ["b"], 0.5)) == 5

    def test_it_is_not_the_first_ones(self):
        assert choose([None] * 100, 0.5) != list(range(50))


class TestSplit:
    def test_birds(self, parts, image_directory):
        first, second = (ImageDirectory.read(p, is_labelled=True) for p in parts)
        assert Counter(r.category for r in first.rows) == {"chickens": 8, "turkeys": 8}
        assert Counter(r.category for r in second.rows) == {"chickens": 4, "turkeys": 4}
        assert first.categories == second.categories == ["chickens", "turkeys"]
        whole = ImageDirectory.read(image_directory)
        assert sorted(first.rows + second.rows) == whole.rows
        by_id = {row.id: row for row in whole.rows}
        for part in (first, second):
            for row in part.rows:
                assert part.read_bytes(row) == whole.read_bytes(by_id[row.id])

    def test_pictures_are_not_stored_twice(self, parts, image_directory):
        part = ImageDirectory.read(parts[0])
        row = part.rows[0]
        assert os.path.samefile(part.path(row), os.path.join(image_directory, "image", row.file_name))

    def test_without_categories(self, tmp_path):
        for i in range(5):
            save(tmp_path / "in" / f"{i}.png")
        source = convert_to_image_directory(str(tmp_path / "in"), str(tmp_path / "d"))
        one, two = split_image_directory(source, str(tmp_path / "1"), str(tmp_path / "2"), fraction=0.5)
        assert (len(ImageDirectory.read(one).rows), len(ImageDirectory.read(two).rows)) == (2, 3)

    @pytest.mark.parametrize("fraction", [0, 1, 0.01, 0.99])
    def test_a_part_would_be_empty(self, image_directory, tmp_path, fraction):
        with pytest.raises(NotInRangeValueError, match="Of 24 pictures"):
            split_image_directory(image_directory, str(tmp_path / "1"), str(tmp_path / "2"), fraction=fraction)

    def test_a_single_picture(self, tmp_path):
        source = convert_to_image_directory(folder_of(tmp_path / "in", {"dog": 1}), str(tmp_path / "d"))
        with pytest.raises(InvalidDatasetError, match="At least 2"):
            split_image_directory(source, str(tmp_path / "1"), str(tmp_path / "2"))
