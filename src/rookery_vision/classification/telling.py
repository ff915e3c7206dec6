"""What a training tells: lines in its log, metrics by their documented names, pictures to look at."""

from __future__ import annotations

from typing import Any, Optional

from rookery.worker import Run, find_context
from rookery_vision.classification.bar import Bar
from rookery_vision.classification.presets import Options
from rookery_vision.classification.ranks import Ranks

__all__ = ["Telling"]


class Telling:
    """Only the first process speaks. Outside of a run there is nobody to log to; the lines are printed all the same."""

    def __init__(self, ranks: Ranks, options: Options) -> None:
        self._options, self._is_first, self._world = options, ranks.is_first, ranks.world
        self._run: Optional[Any] = Run.get_context() if ranks.is_first and find_context() is not None else None

        self._bar = Bar()

    def begin(self, trainer: Any) -> None:
        data, options = trainer.data, trainer.options
        self._say(
            f"{data.spec.model_name}, {len(data.categories)} categories, {len(data.training.rows)} pictures to train and "
            f"{len(data.validation.rows)} to validate, {trainer.train_set.size[1]} × {trainer.train_set.size[0]}; {self._world} × "
            f"{options.batch_size} a step on {trainer.ranks.device.type}, {trainer.amp.name}{', compiled' if trainer.is_compiled else ''}; learning rate {options.learning_rate:g}"
            + (f" × {self._world}" if self._world > 1 else "")
        )
        if trainer.choice.why:
            self._say(f"a step of {options.batch_size} on this machine: {trainer.choice.why}")
        if options.cache == "Auto" and trainer.train_set.cache is None:
            self._say("no room for decoded pictures on the disk: they are decoded in every epoch")
        if self._run is not None and trainer.progress.epoch == 0 and trainer.progress.step == 0:
            self._show("Training pictures", trainer, None)
            if options.augmentation != "None":
                self._show("Training pictures, augmented", trainer, 0)

    def is_due(self, progress: Any, num_steps: int) -> bool:
        """Whether the sums are to be read after this step: for a line, or for the bar."""
        return self._has_line(progress, num_steps) or (self._is_first and self._bar.is_due())

    def step(self, progress: Any, num_steps: int) -> None:
        if not self._is_first:
            return
        sums = progress.sums
        seen, spent = max(sums["seen"], 1), max(sums["waited_s"] + sums["worked_s"], 1e-9)
        speed, loss, error = seen * self._world / spent, sums["loss"] / seen, sums["wrong"] / seen
        if self._bar.is_shown:
            title = f"Epoch {progress.epoch + 1}/{self._options.epochs}"
            told = f"{speed:.1f} images/s, loss {loss:.4f}, error {error:.4f}"
            self._bar.draw(title, progress.step, num_steps, spent, told)
            return
        self._say(
            f"Epoch [{progress.epoch + 1}/{self._options.epochs}] iter [{progress.step}/{num_steps}] {spent / progress.step:.3f} s a batch, "
            f"{speed:.1f} images/s, loss {loss:.4f}, error {error:.4f}"
        )

    def _has_line(self, progress: Any, num_steps: int) -> bool:
        return progress.step % self._options.print_frequency == 0 or progress.step == num_steps

    def epoch(self, progress: Any, valid: dict[str, Any], best: Any, spent_s: float) -> None:
        """The documented metrics, one row each, and two of ours."""
        sums, number = progress.sums, progress.epoch + 1
        seen = max(sums["seen"], 1)
        rows = {
            "learning rate": ("lr", progress.rate),
            "Train images per second": ("train_ips", seen / max(spent_s, 1e-9)),
            "Train loss": ("train_loss", sums["loss"] / seen),
            "Train error": ("train_error", sums["wrong"] / seen),
            "Valid loss": ("valid_loss", valid["loss"]),
            "Top-1 validation accuracy": ("top1_acc", valid["top1"]),
            "Top-5 validation accuracy": ("top5_acc", valid["top5"]),
            "Loader wait share": ("wait_share", sums["waited_s"] / max(sums["waited_s"] + sums["worked_s"], 1e-9)),
        }
        if self._run is not None:
            for name, (column, value) in rows.items():
                self._run.log_row(name, epoch=number, **{column: value})
        values = dict(rows.values())
        self._say(
            "Epoch {0}/{1}: train loss {train_loss:.4f}, error {train_error:.4f}; valid loss {valid_loss:.4f}, top-1 {top1_acc:.4f}, top-5 "
            "{top5_acc:.4f}; {train_ips:.1f} images/s, waiting for pictures {wait_share:.1%}{2}".format(
                number, self._options.epochs, " (best so far)" if best.epoch == progress.epoch else "", **values
            )
        )

    def end(self, trainer: Any, best: Any) -> None:
        done = trainer.progress.epoch
        if done < self._options.epochs:
            self._say(
                f"stopped after epoch {done}: the validation loss has not fallen for {self._options.patience} epochs"
            )
        self._say(f"the model is that of epoch {best.epoch + 1}, the best: top-1 {best.top1:.4f}, loss {best.loss:.4f}")
        if self._run is not None:
            from rookery_vision.classification.look import confusion, worst

            self._run.log("Best epoch", best.epoch + 1)
            self._run.log("Best top-1 validation accuracy", best.top1)
            confusion(self._run, "Validation confusion matrix", trainer.data.categories, best.matrix.tolist())
            worst(self._run, trainer, best)

    def _show(self, name: str, trainer: Any, epoch: Optional[int]) -> None:
        from rookery_vision.classification.look import samples

        samples(self._run, name, trainer, epoch)

    def _say(self, text: str) -> None:
        if self._is_first:
            self._bar.clear()
            print(text, flush=True)
