"""The comparison of recipes runs, small; the page about scaling says what its arithmetic says."""

from __future__ import annotations

import os

import numpy
import pytest
import torch

from benchmarks import paper, vision, vision_recipe
from benchmarks.shapes import CATEGORIES, draw
from tests.vision.conftest import ROOT

pytestmark = pytest.mark.usefixtures("one_thread")


class TestShapes:
    def test_all_categories_differ_and_are_drawn_alike_again(self):
        assert len(set(CATEGORIES)) == 24
        for category in CATEGORIES:
            first, again, other = (
                numpy.asarray(draw(category, 48, numpy.random.default_rng(seed))) for seed in (1, 1, 2)
            )
            assert numpy.array_equal(first, again)
            assert not numpy.array_equal(first, other)


class TestRecipes:
    def test_the_page_keeps_the_head_and_appends_a_layer(self):
        from rookery_vision.stack import models

        state = models.resnet18(num_classes=1000).state_dict()
        network = vision_recipe.page_network(state, 24)
        assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 24)
        assert [tuple(p.shape) for p in network[1].parameters()] == [(24, 1000), (24,)]
        assert torch.equal(vision_recipe._halves(torch.tensor([0, 255])), torch.tensor([-1.0, 1.0]))

    @pytest.mark.slow
    def test_both_run_on_the_same_pictures(self, tmp_path):
        scores = vision_recipe.compare(
            str(tmp_path), train=2, valid=1, test=1, edge=32, epochs=1, seeds=1, before=1, rates=(0.01,)
        )
        assert set(scores) == {"ours", "page"}
        assert all(0 <= value <= 1 for values in scores.values() for value in values)


class TestSameAccuracy:
    def test_within_what_rounds_and_pictures_can_tell(self):
        alike, apart = [0.8] * 6, [0.7, 0.9, 0.7, 0.9, 0.7, 0.9]
        by_picture = 2 * (2 * 0.8 * 0.2 / (400 * 6)) ** 0.5
        assert vision.tolerated(alike, alike, 400) == pytest.approx(by_picture)
        assert vision.tolerated(alike, alike, 100) > by_picture  # fewer pictures tell less
        assert vision.tolerated(apart, [0.79, 0.81] * 3, 400) > by_picture  # so do rounds that differ
        assert vision.tolerated(apart, apart[::-1], 4) == vision.MOST_TOLERATED  # but no excuse goes on for ever
        assert vision.tolerated([0.8], [0.8], 400) == pytest.approx(vision.MOST_TOLERATED, abs=0.01)


class TestPaper:
    def test_the_page_has_what_the_arithmetic_gives(self):
        with open(os.path.join(ROOT, "docs", "scaling.md"), encoding="utf-8") as f:
            text = f.read()
        for line in (*paper.step_table(), *paper.loader_table()):
            assert line in text
        decode, crop = paper.LOADER_MS.values()
        assert f"{decode} ms to decode" in text
        assert f"{crop} ms for a random crop" in text

    def test_what_does_not_hide_makes_a_step_longer(self):
        slow = paper.Machine("two nodes, 10 Gbit/s", 16, 2, 780, 1.1, 200)
        assert slow.reduce_ms == pytest.approx(174, abs=1)
        assert slow.efficiency(128) == pytest.approx(0.72, abs=0.01)
        assert all(m.efficiency(128) == 1.0 for m in paper.MACHINES)
        assert all(m.total(128) / m.num_gpus >= 2.5 * m.page_images_per_s for m in paper.MACHINES)

    def test_parameters_are_counted(self):
        from rookery_vision.stack import models

        with torch.device("meta"):
            network = models.resnet50()
        assert sum(p.numel() for p in network.parameters()) == paper.FIGURES["parameters of ResNet-50"][0]
