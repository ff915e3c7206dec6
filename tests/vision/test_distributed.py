"""Two processes: they see every picture once, agree, and come to what one process comes to."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rookery_vision.errors import LessThanOrEqualToError
from rookery_vision.formats.model_directory import read_model_spec, read_state

STEP = r"""
import sys

import numpy
import torch

from rookery_vision.classification.checks import check_data
from rookery_vision.classification.presets import Options
from rookery_vision.classification.ranks import Ranks, joined, my_share
from rookery_vision.classification.train import Trainer, train_step
from rookery_vision.formats.model_directory import read_model_spec

torch.set_num_threads(1)
net, training, validation = sys.argv[1:]
options = Options(image_size=32, precision="float32", cache="Off", batch_size=8)
data = check_data(training, validation, read_model_spec(net), options)
places = numpy.arange(7)  # an odd number: shares of 4 and 3


def step(ranks):
    trainer = Trainer(data, None, options, ranks)
    before = {name: value.clone() for name, value in trainer.network.state_dict().items()}
    trainer.parallel.eval()  # batch norm must not see who has which pictures
    mine = my_share(places, ranks.rank, ranks.world)
    for group in trainer.optimizer.param_groups:
        group["lr"] = 0.1
    train_step(trainer, next(trainer.train_set.batches([mine])), len(mine) * ranks.world / len(places))
    trainer.close()
    return before, trainer.network.state_dict()


with joined() as ranks:
    _, shared = step(ranks)
    if ranks.is_first:
        before, alone = step(Ranks(0, 1, ranks.device))
        moved = max(float((alone[n] - before[n]).abs().max()) for n in alone)
        apart = max(float((alone[n] - shared[n]).abs().max()) for n in alone)
        print("moved", moved, "apart", apart, flush=True)
    ranks.wait()
"""


def run(words, world, folder):
    """Under torchrun, whose own store the processes meet at, so that no port is guessed; {rank: what it printed}."""
    logs = folder / f"logs{world}"
    command = [
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc_per_node={world}",
        "--redirects=3",
        f"--log-dir={logs}",
    ]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command, *words], env=env, capture_output=True, text=True, timeout=280, check=False
    )
    texts = {}
    for path in logs.glob("*/attempt_0/*/std*.log"):
        texts[int(path.parent.name)] = texts.get(int(path.parent.name), "") + path.read_text()
    assert done.returncode == 0, (texts, done.stderr[-3000:])
    return texts


@pytest.mark.slow
class TestTwoProcesses:
    def test_a_step_is_that_of_one_process(self, untrained, parts, tmp_path):
        """Two processes with four and three pictures move the weights as one process with seven does."""
        (tmp_path / "step.py").write_text(STEP)
        said = run([str(tmp_path / "step.py"), untrained, *parts], 2, tmp_path)[0].split()
        moved, apart = float(said[said.index("moved") + 1]), float(said[said.index("apart") + 1])
        assert moved > 1e-3
        assert apart < moved * 1e-3

    def test_training(self, untrained, parts, tmp_path):
        words = [
            "-m",
            "rookery_vision",
            "train_pytorch_model",
            f"--untrained-model={untrained}",
            f"--training-dataset={parts[0]}",
        ]
        words += [
            f"--validation-dataset={parts[1]}",
            f"--trained-model={tmp_path / 'model'}",
            "--epochs=1",
            "--batch-size=5",
        ]
        words += ["--image-size=32", "--learning-rate=0.01", "--print-frequency=1"]
        texts = run(words, 2, tmp_path)
        first, second = texts[0], texts[1]
        assert "16 pictures to train and 8 to validate" in first
        assert "learning rate 0.01 × 2" in first
        assert "Epoch [1/1] iter [2/2]" in first  # ten pictures, then six
        assert "Epoch" not in second
        spec = read_model_spec(str(tmp_path / "model"), is_trained=True)
        assert spec.training["world_size"] == 2
        assert read_state(str(tmp_path / "model")) is not None

    def test_more_processes_than_pictures(self, untrained, parts):
        from rookery_vision.classification.checks import check_data, check_sizes
        from rookery_vision.classification.presets import Options

        options = Options(batch_size=2)
        data = check_data(*parts, read_model_spec(untrained), options)
        with pytest.raises(LessThanOrEqualToError, match="9 processes for 8 validation pictures"):
            check_sizes(data, options, 9)


class TestLaunched:
    def test_by_whoever_launched_it(self, monkeypatch):
        from rookery_vision.declare import launched

        assert (launched.rank(), launched.world_size(), launched.local_rank()) == (0, 1, 0)
        for part, value in (("RANK", "3"), ("SIZE", "4"), ("LOCAL_RANK", "1")):
            monkeypatch.setenv("OMPI_COMM_WORLD_" + part, value)
        assert (launched.rank(), launched.world_size(), launched.local_rank()) == (3, 4, 1)
        monkeypatch.setenv("RANK", "2")  # torchrun below mpirun
        assert launched.rank() == 2
