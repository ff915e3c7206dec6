"""The same training as a LightningModule, by Lightning's Trainer as it comes, without its logger, checkpoints and bar.

    python vision_lightning.py TRAIN VALIDATION TEST EPOCHS BATCH EDGE RATE

Runs in the environment of `lightning_env.py`. Prints one line of JSON.
"""

import contextlib
import json
import logging
import os
import sys
import time
import warnings

from rookery.worker import torchvision_hook

torchvision_hook.install()

import lightning  # noqa: E402
import torch  # noqa: E402
from torchvision import models  # noqa: E402
from vision_reference import Best, arguments, load_data  # noqa: E402


class Classifier(lightning.LightningModule):
    def __init__(self, num_classes, rate, epochs):
        super().__init__()
        self.model = models.resnet18(num_classes=num_classes)
        self.rate, self.epochs = rate, epochs
        self.right = self.seen = 0
        self.best = Best()

    def training_step(self, batch, place):
        image, target = batch
        return torch.nn.functional.cross_entropy(self.model(image), target)

    def validation_step(self, batch, place):
        image, target = batch
        self.right += int((self.model(image).argmax(1) == target).sum())
        self.seen += len(target)

    def on_validation_epoch_end(self):
        self.best.consider(self.right / max(1, self.seen), self.model)
        self.right = self.seen = 0

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.rate, momentum=0.9, weight_decay=1e-4, nesterov=True)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.epochs)]


def main():
    train, validation, test, epochs, batch, edge, rate = arguments()
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(int(os.environ.get("VISION_SEED") or 1))
    began = time.perf_counter()
    training, testing = load_data(train, validation, edge, batch, persistent_workers=True)
    model = Classifier(len(training.dataset.classes), rate, epochs)
    with contextlib.redirect_stdout(sys.stderr):
        trainer = lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        trainer.fit(model, training, testing)
    spent = time.perf_counter() - began
    top1 = model.best.tested(model.model, test, edge, batch)
    print(json.dumps({"images_per_s": epochs * len(training.dataset) / spent, "top1": top1}))


if __name__ == "__main__":
    main()
