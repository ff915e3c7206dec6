"""The loop that a PyTorch tutorial shows: ImageFolder, DataLoader, a network, an optimizer.

    python vision_plain.py TRAIN VALIDATION TEST EPOCHS BATCH EDGE RATE

Nothing is read back in the loop, workers stay from epoch to epoch. Prints one line of JSON.
"""

import json
import os
import time

from rookery.worker import torchvision_hook

torchvision_hook.install()

import torch  # noqa: E402
from torchvision import models  # noqa: E402
from vision_reference import Best, arguments, evaluate, load_data  # noqa: E402


def main():
    train, validation, test, epochs, batch, edge, rate = arguments()
    torch.manual_seed(int(os.environ.get("VISION_SEED") or 1))
    began = time.perf_counter()
    training, testing = load_data(train, validation, edge, batch, persistent_workers=True)
    model = models.resnet18(num_classes=len(training.dataset.classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    best = Best()
    for _ in range(epochs):
        model.train()
        for image, target in training:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(image), target).backward()
            optimizer.step()
        scheduler.step()
        best.consider(evaluate(model, testing), model)
    spent = time.perf_counter() - began
    top1 = best.tested(model, test, edge, batch)
    print(json.dumps({"images_per_s": epochs * len(training.dataset) / spent, "top1": top1}))


if __name__ == "__main__":
    main()
