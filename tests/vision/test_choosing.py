"""What computes fastest is found by trying, once; averaging of weights; the bar."""

from __future__ import annotations

import io
import os

import pytest
import torch

from rookery_vision import probes, train_pytorch_model
from rookery_vision.classification import bar, choosing, network
from rookery_vision.classification.average import Average
from rookery_vision.classification.choosing import NEVER, Work, choose
from rookery_vision.classification.presets import Options
from rookery_vision.classification.ranks import Ranks
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing, read_model_spec, read_state
from tests.vision.test_train import QUICK, same

pytestmark = pytest.mark.usefixtures("one_thread")
ALONE = Ranks(0, 1, torch.device("cpu"))


@pytest.fixture(autouse=True)
def no_answers_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("ROOKERY_VISION_PROBES", str(tmp_path / "probes"))


def work(num_steps=100):
    spec = ModelSpec("ResNet", {"model_name": "resnet18", "pretrained": False})
    return Work(spec, 2, Preprocessing(), (32, 32), 4, num_steps)


@pytest.fixture
def times(monkeypatch):
    """Steps take what the test says: {format: seconds}, and after compiling (seconds of compiling, seconds of a step)."""
    told = {"float32": 1.0, "bfloat16": 1.0, "compiled": (NEVER, NEVER), "asked": 0}

    def step_s(self, precision):
        told["asked"] += 1
        return told[precision]

    monkeypatch.setattr(choosing._Probe, "step_s", step_s)
    monkeypatch.setattr(choosing._Probe, "compiled_s", lambda self, precision: told["compiled"])
    return told


class TestPrecision:
    def test_what_is_clearly_faster(self, times):
        times["bfloat16"] = 0.4
        assert choose(work(), Options(), ALONE).precision == "bfloat16"
        times["bfloat16"] = 9.0
        assert choose(work(), Options(), ALONE).precision == "bfloat16"  # kept: it is the same machine
        assert times["asked"] == 2

    def test_a_little_faster_is_noise(self, times):
        times["bfloat16"] = 0.95
        chosen = choose(work(), Options(), ALONE)
        assert chosen.precision == "float32"
        assert chosen.why == "float32 1000 ms, bfloat16 950 ms"

    def test_what_is_asked_for_is_not_tried(self, times):
        chosen = choose(work(), Options(precision="bfloat16", compile="Off"), ALONE)
        assert (chosen.precision, chosen.is_compiled, times["asked"]) == ("bfloat16", False, 0)

    def test_for_real_and_without_touching_chance(self):
        torch.manual_seed(7)
        expected = torch.rand(3)
        torch.manual_seed(7)
        chosen = choose(work(), Options(), ALONE)
        assert torch.equal(torch.rand(3), expected)
        assert "float32" in chosen.why
        assert "bfloat16" in chosen.why
        assert len(os.listdir(probes.probes_folder())) == 1


class TestCompile:
    def test_pays_where_the_training_is_long(self, times):
        times["compiled"] = (60.0, 0.5)
        assert not choose(work(1000), Options(), ALONE).is_compiled  # a quarter of an hour
        chosen = choose(work(10_000), Options(), ALONE)
        assert chosen.is_compiled
        assert "compiled 500 ms after 60 s" in chosen.why

    def test_not_where_it_saves_less_than_it_costs(self, times):
        times["compiled"] = (60.0, 0.995)
        assert not choose(work(10_000), Options(), ALONE).is_compiled

    def test_not_where_it_cannot_be_done(self, times):
        chosen = choose(work(10_000), Options(), ALONE)
        assert not chosen.is_compiled
        assert "cannot be compiled here" in chosen.why

    def test_a_compiled_network_learns_the_same(self, trained, untrained, parts, tmp_path, monkeypatch):
        """Traced, and run by torch's own operators: what differs then is a fault of ours, not of the compiler's arithmetic."""
        monkeypatch.setattr(network, "BACKEND", "eager")
        precision = read_model_spec(trained).training["precision_used"]
        model = train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **QUICK, precision=precision, compile="On")
        assert read_model_spec(model).training["compiled"] is True
        assert same(read_state(model), read_state(trained))


class TestAverage:
    def test_of_every_step(self):
        net = torch.nn.BatchNorm1d(2)
        average = Average.of(net, 0.9)
        assert Average.of(net, 0.0) is None
        expected = net.weight.detach().clone()
        for step in range(1, 200):
            with torch.no_grad():
                net.weight.fill_(float(step))
            net.num_batches_tracked += 1
            average.update(net, step)
            decay = min(0.9, (1 + step) / (10 + step))
            expected = decay * expected + (1 - decay) * step
        assert torch.allclose(average.network.weight, expected)
        assert average.network.num_batches_tracked == 199
        assert not average.network.weight.requires_grad

    @pytest.mark.slow
    def test_is_what_is_kept_and_goes_on_after_an_interruption(
        self, trained, untrained, parts, tmp_path, in_a_run, monkeypatch
    ):
        from rookery_vision.classification import checkpoint

        options = {**QUICK, "weight_averaging": 0.9}
        whole = train_pytorch_model(untrained, *parts, str(tmp_path / "whole"), **options)
        assert not same(read_state(whole), read_state(trained))
        asked = iter([False] * 3 + [True])
        monkeypatch.setattr(checkpoint, "should_stop", lambda: next(asked))
        with pytest.raises(SystemExit):
            train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **options)
        monkeypatch.setattr(checkpoint, "should_stop", lambda: False)
        model = train_pytorch_model(untrained, *parts, str(tmp_path / "m"), **options)
        assert same(read_state(model), read_state(whole))


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestBar:
    def test_on_a_terminal(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(bar, "EVERY_S", 30.0)
        stream = Terminal()
        shown = bar.Bar(stream)
        assert shown.is_due()
        shown.draw("Epoch 1/2", 5, 20, 10.0, "8.0 images/s")
        assert "Epoch 1/2 [██████··················] 5/20, 0:30 left, 8.0 images/s" in stream.getvalue()
        assert not shown.is_due()
        shown.clear()
        assert stream.getvalue().endswith(" \r")

    def test_never_wider_than_the_terminal(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "30")
        stream = Terminal()
        bar.Bar(stream).draw("Epoch 1/2", 20, 20, 4000.0, "loss 0.1" * 9)
        assert len(stream.getvalue()) <= 30

    def test_in_a_log_there_is_none(self):
        stream = io.StringIO()
        hidden = bar.Bar(stream)
        hidden.draw("Epoch 1/2", 5, 20, 10.0, "")
        hidden.clear()
        assert (hidden.is_due(), stream.getvalue()) == (False, "")
