"""Where a training is, kept for its next attempt: after every epoch, and when the run is asked to stop."""

from __future__ import annotations

import os
from typing import Any, Optional

from rookery.worker import checkpoint_dir, find_context, leave_for_resume, should_stop
from rookery_vision.classification.presets import Options
from rookery_vision.classification.ranks import Ranks
from rookery_vision.classification.result import Best
from rookery_vision.pictures import decoders
from rookery_vision.stack import torch

__all__ = ["Checkpoints", "Progress"]

ASK_EVERY = 8  # steps; agreeing makes all processes wait for each other
_SUMS = ("seen", "loss", "wrong", "waited_s", "worked_s")


class Progress:
    """Epoch and step, what has been added up in this epoch, and how validation has gone."""

    def __init__(self) -> None:
        self.epoch = self.step = 0
        self.rate = 0.0
        self.sums = dict.fromkeys(_SUMS, 0.0)
        self.best_loss, self.epochs_without_gain = float("inf"), 0
        self.best = Best()
        self._unread: Any = None

    def add(self, seen: int, loss: Any, wrong: Any, rate: float, waited_s: float, worked_s: float) -> None:
        """One step. `loss` (the mean) and `wrong` stay on their device until `read`: asking for them makes a GPU wait."""
        self.step += 1
        self.rate = rate
        told = torch.stack((loss.double() * seen, wrong.double()))
        self._unread = told if self._unread is None else self._unread + told
        for name, value in zip(("seen", "waited_s", "worked_s"), (seen, waited_s, worked_s)):
            self.sums[name] += value

    def read(self) -> None:
        """Bring the sums up to date."""
        if self._unread is not None:
            loss, wrong = self._unread.tolist()
            self.sums["loss"] += loss
            self.sums["wrong"] += wrong
            self._unread = None

    def reduce(self, ranks: Ranks) -> None:
        """Over all processes; times stay sums over them."""
        self.read()
        self.sums = dict(zip(_SUMS, ranks.total([self.sums[n] for n in _SUMS])))

    def note_loss(self, loss: float) -> None:
        if loss < self.best_loss:
            self.best_loss, self.epochs_without_gain = loss, 0
        else:
            self.epochs_without_gain += 1

    def next_epoch(self) -> None:
        self.epoch, self.step = self.epoch + 1, 0
        self.clear_sums()

    def clear_sums(self) -> None:
        self.sums = dict.fromkeys(_SUMS, 0.0)

    def state(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("epoch", "step", "rate", "best_loss", "epochs_without_gain")}
        return {**plain, "sums": self.sums, "best": self.best.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Progress:
        progress = cls()
        progress.best = Best.from_state(state.pop("best"))
        for name, value in state.items():
            setattr(progress, name, value)
        return progress


class Checkpoints:
    """In a run only: outside of one nothing says that the next training is the same one going on."""

    def __init__(self, options: Options, fingerprint: str) -> None:
        self._folder = checkpoint_dir() if find_context() is not None else None
        self._name = f"train_pytorch_model-{fingerprint}.pt"

    def find(self) -> Optional[dict[str, Any]]:
        """What the attempt before has left, or None."""
        path = self._path()
        if path is None or not os.path.exists(path):
            return None
        return dict(torch.load(path, map_location="cpu", weights_only=True))

    def restore(self, state: Optional[dict[str, Any]], trainer: Any) -> Progress:
        """Put it into a trainer; from the beginning where there is none."""
        if state is None:
            return Progress()
        trainer.network.load_state_dict(state["network"])
        trainer.optimizer.load_state_dict(state["optimizer"])
        trainer.amp.load_state(state["amp"])
        if trainer.average is not None:
            trainer.average.network.load_state_dict(state["average"])
        progress = Progress.from_state(state["progress"])
        print(f"going on in epoch {progress.epoch + 1}, after {progress.step} steps of it", flush=True)
        return progress

    def save(self, trainer: Any) -> None:
        """By the first process; the others wait where the next step needs them."""
        path = self._path()
        if path is None or not trainer.ranks.is_first:
            return
        state = {
            "network": trainer.network.state_dict(),
            "optimizer": trainer.optimizer.state_dict(),
            "progress": trainer.progress.state(),
            "amp": trainer.amp.state(),
            "average": trainer.average.network.state_dict() if trainer.average is not None else None,
            "choice": {"precision": trainer.amp.name, "is_compiled": trainer.is_compiled, "decoder": decoders.chosen()},
        }
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    def leave_if_asked(self, trainer: Any) -> None:
        """All processes agree, the first one saves, and all end with the exit code that asks for another attempt."""
        if self._folder is None or (trainer.ranks.world > 1 and trainer.progress.step % ASK_EVERY):
            return
        if not trainer.ranks.any(should_stop()):
            return
        trainer.progress.read()
        sums = trainer.ranks.total([trainer.progress.sums[n] for n in _SUMS])
        # Kept as the first process' own: on going on the others begin with none.
        trainer.progress.sums = dict(zip(_SUMS, sums))
        self.save(trainer)
        trainer.ranks.wait()
        print(f"asked to stop: saved epoch {trainer.progress.epoch + 1}, step {trainer.progress.step}", flush=True)
        leave_for_resume()

    def remove(self) -> None:
        path = self._path()
        if path is not None and os.path.exists(path):
            os.remove(path)

    def _path(self) -> Any:
        return os.path.join(self._folder, self._name) if self._folder else None
