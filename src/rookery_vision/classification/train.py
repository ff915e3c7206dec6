"""Trains a network to tell pictures apart: what Train PyTorch Model runs.

Alone, under torchrun, as a job; the folders are those that the other modules make:

    python -m rookery_vision train_pytorch_model --untrained-model net --training-dataset a --validation-dataset b --trained-model out
    torchrun --nproc_per_node 2 -m rookery_vision train_pytorch_model …
    rookery run --processes-per-node 2 -c "python -m rookery_vision train_pytorch_model …"
"""

from __future__ import annotations

import math
import time
from typing import Any, Optional

from rookery_vision.classification.average import Average
from rookery_vision.classification.checkpoint import Checkpoints
from rookery_vision.classification.checks import check_data, check_sizes
from rookery_vision.classification.choosing import Choice, Work, choose
from rookery_vision.classification.network import DTYPES, Amp, compiled, make_network, make_optimizer, to_input
from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.presets import TOP, Options
from rookery_vision.classification.ranks import Ranks, global_batches, joined, my_share
from rookery_vision.classification.result import Best, write_result
from rookery_vision.classification.schedule import rate_at
from rookery_vision.classification.telling import Telling
from rookery_vision.errors import by_id
from rookery_vision.formats.model_directory import read_model_spec, read_state
from rookery_vision.pictures import decoders
from rookery_vision.stack import torch

__all__ = ["Trainer", "evaluate", "main", "train_one_epoch", "train_step"]


def main(untrained: str, training: str, validation: str, output: str, options: Options) -> None:
    """Train, and write the model of the best epoch."""
    spec = read_model_spec(untrained)
    data = check_data(training, validation, spec, options)
    with joined() as ranks:
        check_sizes(data, options, ranks.world)
        trainer = Trainer(data, read_state(untrained), options, ranks)
        try:
            best = _epochs(trainer)
        finally:
            trainer.close()
        if ranks.is_first:
            write_result(output, trainer, best)
            trainer.checkpoints.remove()
        ranks.wait()  # nobody leaves while the first one still writes


class Trainer:
    """Everything that one training has."""

    def __init__(self, data: Any, state: Any, options: Options, ranks: Ranks) -> None:
        torch.manual_seed(options.random_seed)
        self.data, self.options, self.ranks = data, options, ranks
        self.checkpoints = Checkpoints(options, data.fingerprint)
        before = self.checkpoints.find()
        decoders.settle(before["choice"]["decoder"] if before else None)
        with_cache = options.cache == "Auto"
        seed = options.random_seed
        self.train_set = PictureSet(data.training, data.prep, data.train_labels, options.augmentation, seed, with_cache)
        self.valid_set = PictureSet(data.validation, data.prep, data.valid_labels, with_cache=with_cache)
        self.network = make_network(data.spec, len(data.categories), state).to(ranks.device)
        self.choice = self._choose(before)
        self.amp = Amp(ranks.device.type, DTYPES[self.choice.precision])
        self.optimizer = make_optimizer(self.network, options.learning_rate)
        self.criterion = torch.nn.CrossEntropyLoss(label_smoothing=options.label_smoothing)
        self.average = Average.of(self.network, options.weight_averaging)
        self.progress = self.checkpoints.restore(before, self)
        if not ranks.is_first:
            self.progress.clear_sums()  # what was saved is the sum over all processes
        # Wrapped once the weights are in: DDP sends the first process' to all others.
        self.parallel = compiled(self.network, options.batch_size) if self.is_compiled else self.network
        if ranks.world > 1:
            devices = [ranks.device] if ranks.device.type == "cuda" else None
            # Buffers are the first process' when they are looked at (`share_buffers`): not also with every step.
            self.parallel = torch.nn.parallel.DistributedDataParallel(
                self.parallel, device_ids=devices, gradient_as_bucket_view=True, broadcast_buffers=False
            )
        self.telling = Telling(ranks, options)

    @property
    def is_compiled(self) -> bool:
        return self.choice.is_compiled

    @property
    def judged(self) -> Any:
        """The network that is evaluated and kept."""
        return self.network if self.average is None else self.average.network

    def _choose(self, before: Optional[dict[str, Any]]) -> Choice:
        if before is not None:
            return Choice(before["choice"]["precision"], before["choice"]["is_compiled"], "")
        data, options = self.data, self.options
        steps = len(self.train_set) * options.epochs // (options.batch_size * self.ranks.world)
        size = self.train_set.size
        work = Work(data.spec, len(data.categories), data.prep, size, options.batch_size, steps)
        return choose(work, options, self.ranks)

    def close(self) -> None:
        self.train_set.close()
        self.valid_set.close()


def _epochs(trainer: Trainer) -> Best:
    options, progress, telling = trainer.options, trainer.progress, trainer.telling
    telling.begin(trainer)
    best = progress.best
    while progress.epoch < options.epochs and progress.epochs_without_gain < options.patience:
        began = time.perf_counter()
        train_one_epoch(trainer)
        spent = time.perf_counter() - began
        valid = evaluate(trainer)
        best.consider(progress.epoch, valid, trainer.judged)
        progress.note_loss(valid["loss"])
        telling.epoch(progress, valid, best, spent)
        progress.next_epoch()
        trainer.checkpoints.save(trainer)
    telling.end(trainer, best)
    return best


def train_one_epoch(trainer: Trainer) -> None:
    """One pass over the training pictures; goes on within an epoch where a checkpoint says so."""
    options, ranks, progress = trainer.options, trainer.ranks, trainer.progress
    trainer.parallel.train()
    groups = global_batches(
        len(trainer.train_set), options.batch_size, ranks.world, options.random_seed, progress.epoch
    )
    shares = [my_share(group, ranks.rank, ranks.world) for group in groups[progress.step :]]
    peak = options.learning_rate * ranks.world
    for batch in trainer.train_set.batches(shares, progress.epoch):
        trainer.checkpoints.leave_if_asked(trainer)
        began = time.perf_counter()
        rate = rate_at(progress.epoch + progress.step / len(groups), options.epochs, options.warmup_step_number, peak)
        for group in trainer.optimizer.param_groups:
            group["lr"] = rate
        whole = len(groups[progress.step])
        loss, wrong = train_step(trainer, batch, len(batch.labels) * ranks.world / whole)
        if trainer.average is not None:
            trainer.average.update(trainer.network, progress.epoch * len(groups) + progress.step)
        progress.add(len(batch.labels), loss, wrong, rate, batch.waited_s, time.perf_counter() - began)
        if trainer.telling.is_due(progress, len(groups)):
            progress.read()
            _check_loss(trainer)
            trainer.telling.step(progress, len(groups))
    progress.reduce(ranks)
    _check_loss(trainer)


def _check_loss(trainer: Trainer) -> None:
    """A sum that is no number has had a loss that was none; looked at where the loss is read anyway."""
    progress, options = trainer.progress, trainer.options
    loss = progress.sums["loss"]
    if not math.isfinite(loss):
        raise by_id("NaN")(
            f"The loss is {loss} in epoch {progress.epoch + 1}, by step {progress.step}. Lower 'Learning rate' (it is "
            f"{options.learning_rate:g}, times {trainer.ranks.world} processes), or add warm-up epochs."
        )


def train_step(trainer: Trainer, batch: Any, share: float) -> tuple[Any, Any]:
    """Forward, backward, update; (mean loss, how many were told wrong), on their device.

    share: the part of the step's pictures that this process has, times the number of processes: DDP averages over processes, the
    loss is to be the average over pictures.
    """
    x_NCHW = to_input(batch.batch_NHWC, trainer.data.prep, trainer.ranks.device)
    labels = torch.from_numpy(batch.labels).to(trainer.ranks.device)
    with trainer.amp.autocast():
        if trainer.options.mixup > 0:
            loss, scores = _mixed(trainer, x_NCHW, labels)
        else:
            scores = trainer.parallel(x_NCHW)
            loss = trainer.criterion(scores, labels)
    trainer.amp.backward(loss * share)
    trainer.amp.step(trainer.optimizer)
    trainer.optimizer.zero_grad(set_to_none=True)
    return loss.detach(), (scores.detach().argmax(1) != labels).sum()


def _mixed(trainer: Trainer, x_NCHW: Any, labels: Any) -> tuple[Any, Any]:
    """mixup: every picture with a share of another one, and the loss likewise. Drawn from (seed, epoch, step)."""
    import numpy

    options, progress = trainer.options, trainer.progress
    chance = numpy.random.default_rng((options.random_seed, progress.epoch, progress.step, trainer.ranks.rank))
    share = float(chance.beta(options.mixup, options.mixup))
    other = torch.from_numpy(chance.permutation(len(labels))).to(labels.device)
    scores = trainer.parallel(x_NCHW.mul(share).add_(x_NCHW[other], alpha=1 - share))
    loss = share * trainer.criterion(scores, labels) + (1 - share) * trainer.criterion(scores, labels[other])
    return loss, scores


@torch.no_grad()
def evaluate(trainer: Trainer) -> dict[str, Any]:
    """Loss, top-1, top-5 and the confusion matrix over all validation pictures, each counted once."""
    ranks, data = trainer.ranks, trainer.data
    network = trainer.judged
    ranks.share_buffers(network)
    network.eval()
    count, num = len(trainer.valid_set), len(data.categories)
    mine = list(range(ranks.rank, count, ranks.world))
    size = max(trainer.options.batch_size, 16)
    matrix = torch.zeros(num, num, dtype=torch.long, device=ranks.device)
    sums = torch.zeros(3, dtype=torch.float64, device=ranks.device)
    for batch in trainer.valid_set.batches([mine[i : i + size] for i in range(0, len(mine), size)]):
        labels = torch.from_numpy(batch.labels).to(ranks.device)
        with trainer.amp.autocast():
            scores = network(to_input(batch.batch_NHWC, data.prep, ranks.device))
        scores = scores.float()
        ranked = scores.topk(min(TOP, num), dim=1).indices
        losses = torch.nn.functional.cross_entropy(scores, labels, reduction="sum")
        sums += torch.stack((losses, (ranked[:, 0] == labels).sum(), (ranked == labels[:, None]).sum())).double()
        places = labels * num + ranked[:, 0]
        matrix.view(-1).index_add_(0, places, torch.ones_like(places))
    loss, top1, top5 = ranks.total(sums.tolist())
    told = {"loss": loss / count, "top1": top1 / count, "top5": top5 / count}
    return {**told, "matrix": ranks.total_tensor(matrix).cpu()}
