"""torchvision's reference classification script, re-stated (references/classification/train.py): the loop that people start from.

    python vision_reference.py TRAIN VALIDATION TEST EPOCHS BATCH EDGE RATE [loader]

RandomResizedCrop and flip, ToTensor, Normalize, a DataLoader with workers, SGD with Nesterov momentum, cosine decay, validation after every
epoch, the best one kept. Prints one line of JSON: the speed, and what the best epoch's model says of the pictures in TEST.
"""

import copy
import json
import os
import sys
import time

from rookery.worker import torchvision_hook

torchvision_hook.install()

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torchvision import datasets, models, transforms  # noqa: E402

NORMALIZE = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def load_data(train, validation, edge, batch, **options):
    training = transforms.Compose(
        [transforms.RandomResizedCrop(edge), transforms.RandomHorizontalFlip(), transforms.ToTensor(), NORMALIZE]
    )
    testing = transforms.Compose(
        [transforms.Resize(round(edge * 256 / 224)), transforms.CenterCrop(edge), transforms.ToTensor(), NORMALIZE]
    )
    workers = len(os.sched_getaffinity(0))
    sets = datasets.ImageFolder(train, training), datasets.ImageFolder(validation, testing)
    return tuple(
        torch.utils.data.DataLoader(s, batch_size=batch, shuffle=i == 0, num_workers=workers, **options)
        for i, s in enumerate(sets)
    )


def train_one_epoch(model, criterion, optimizer, loader):
    model.train()
    for image, target in loader:
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # the script's metric logger reads it at every step


def evaluate(model, loader):
    model.eval()
    right = seen = 0
    with torch.inference_mode():
        for image, target in loader:
            right += int((model(image).argmax(1) == target).sum())
            seen += len(target)
    return right / seen


def arguments():
    """(train, validation, test, epochs, batch, edge, rate)"""
    epochs, batch, edge = map(int, sys.argv[4:7])
    return *sys.argv[1:4], epochs, batch, edge, float(sys.argv[7])


class Best:
    """The weights of the best epoch, and what they are worth on pictures that nobody has chosen by."""

    def __init__(self):
        self.top1, self.state = -1.0, None

    def consider(self, top1, model):
        if top1 > self.top1:
            self.top1, self.state = top1, copy.deepcopy(model.state_dict())

    def tested(self, model, test, edge, batch):
        model.load_state_dict(self.state)
        return evaluate(model, load_data(test, test, edge, batch)[1])


def main():
    train, validation, test, epochs, batch, edge, rate = arguments()
    if sys.argv[8:] == ["loader"]:
        print(json.dumps(loader_alone(train, validation, epochs, batch, edge)))
        return
    torch.manual_seed(int(os.environ.get("VISION_SEED") or 1))
    began = time.perf_counter()
    loaders = load_data(train, validation, edge, batch)
    model = models.resnet18(num_classes=len(loaders[0].dataset.classes))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    best = Best()
    for _ in range(epochs):
        train_one_epoch(model, criterion, optimizer, loaders[0])
        scheduler.step()
        best.consider(evaluate(model, loaders[1]), model)
    spent = time.perf_counter() - began
    top1 = best.tested(model, test, edge, batch)
    print(json.dumps({"images_per_s": epochs * len(loaders[0].dataset) / spent, "top1": top1}))


def loader_alone(train, validation, epochs, batch, edge):
    """The speed of the last epoch, without a network."""
    loader = load_data(train, validation, edge, batch)[0]
    for _ in range(min(epochs, 3)):  # all alike but the first
        began = time.perf_counter()
        seen = sum(len(target) for _, target in loader)
        spent = time.perf_counter() - began
    return {"images_per_s": seen / spent}


if __name__ == "__main__":
    main()
