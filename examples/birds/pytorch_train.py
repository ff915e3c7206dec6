"""Trains a ResNet-18 to tell chickens from turkeys, as in the article. An ordinary PyTorch script: it runs alone, too.

    python pytorch_train.py --num_epochs 8 --output_dir ./outputs [--data_dir FOLDER] [--weights resnet18.pth]

Without --data_dir it draws the pictures itself, where the article's script downloaded them.
"""

import argparse
import os
import time

import torch
from azureml.core.run import Run
from draw_birds import make_birds
from torch import nn
from torchvision import datasets, models, transforms

run = Run.get_context()


def load_data(data_dir, picture_size, batch_size):
    """The two loaders; training pictures are cropped, flipped and re-coloured."""
    ready = [transforms.ToTensor(), transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]
    chains = {
        "train": [
            transforms.RandomResizedCrop(picture_size, scale=(0.6, 1.0)),
            transforms.RandomHorizontalFlip(),
            transforms.ColorJitter(0.2, 0.2, 0.2),
        ],
        "val": [transforms.Resize((picture_size, picture_size))],
    }
    sets = {
        part: datasets.ImageFolder(os.path.join(data_dir, part), transforms.Compose(chain + ready))
        for part, chain in chains.items()
    }
    loaders = {
        part: torch.utils.data.DataLoader(s, batch_size=batch_size, shuffle=part == "train") for part, s in sets.items()
    }
    return loaders, sets["train"].classes


def train_one_epoch(model, loader, criterion, optimizer, device):
    model.train()
    seen, loss_sum = 0, 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen, loss_sum = seen + len(labels), loss_sum + loss.item() * len(labels)
    return loss_sum / seen, seen


@torch.no_grad()
def evaluate(model, loader, criterion, device, classes):
    model.eval()
    matrix, loss_sum, seen = torch.zeros(len(classes), len(classes), dtype=torch.long), 0.0, 0
    for images, labels in loader:
        scores = model(images.to(device)).cpu()
        loss_sum, seen = loss_sum + criterion(scores, labels).item() * len(labels), seen + len(labels)
        for true, guess in zip(labels, scores.argmax(1)):
            matrix[true, guess] += 1
    return loss_sum / seen, matrix.trace().item() / seen, matrix


@torch.no_grad()
def log_predictions_picture(model, loader, device, classes):
    """A sheet of validation pictures with what the model says of each: the first thing one wants to look at."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    model.eval()
    dataset = loader.dataset
    chosen = torch.linspace(0, len(dataset) - 1, 12).long().tolist()
    images, labels = zip(*(dataset[i] for i in chosen))
    guesses = model(torch.stack(images).to(device)).argmax(1).tolist()
    figure, axes = plt.subplots(2, 6, figsize=(12, 4.4))
    for ax, image, label, guess in zip(axes.flat, images, labels, guesses):
        ax.imshow(
            (image.permute(1, 2, 0) * torch.tensor([0.229, 0.224, 0.225]) + torch.tensor([0.485, 0.456, 0.406])).clamp(
                0, 1
            )
        )
        ax.set_title(classes[guess], color="green" if guess == label else "red", fontsize=10)
        ax.axis("off")
    figure.tight_layout()
    run.log_image("predictions", plot=plt)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=8)
    parser.add_argument("--output_dir", default="./outputs")
    parser.add_argument("--data_dir", default="")
    parser.add_argument("--learning_rate", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--picture_size", type=int, default=64)
    parser.add_argument("--pictures", type=int, default=120, help="of each kind to train on, where it draws them")
    parser.add_argument("--weights", default="", help="a ResNet-18 state_dict to start from; from scratch otherwise")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    data_dir = args.data_dir or os.path.join("..", "data", "birds")
    if not args.data_dir:
        val = max(12, args.pictures * 100 // 120)
        print("drew %d pictures" % make_birds(data_dir, args.pictures, val), flush=True)
    loaders, classes = load_data(data_dir, args.picture_size, args.batch_size)
    model = models.resnet18()
    if args.weights:
        model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
    model.fc = nn.Linear(model.fc.in_features, len(classes))
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=args.momentum)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.num_epochs)
    run.log("lr", args.learning_rate)
    run.log("momentum", args.momentum)

    best = 0.0
    os.makedirs(args.output_dir, exist_ok=True)
    for epoch in range(args.num_epochs):
        start = time.time()
        train_loss, seen = train_one_epoch(model, loaders["train"], criterion, optimizer, device)
        speed = seen / (time.time() - start)
        scheduler.step()
        val_loss, accuracy, matrix = evaluate(model, loaders["val"], criterion, device, classes)
        for name, value in (
            ("train_loss", train_loss),
            ("val_loss", val_loss),
            ("val_acc", accuracy),
            ("images_per_second", speed),
        ):
            run.log(name, value)
        print(
            "epoch %d/%d  train loss %.4f  val loss %.4f  val acc %.4f  %.0f images/s"
            % (epoch + 1, args.num_epochs, train_loss, val_loss, accuracy, speed),
            flush=True,
        )
        if accuracy >= best:
            best = accuracy
            torch.save(model.state_dict(), os.path.join(args.output_dir, "model.pt"))
            best_matrix = matrix
    run.log("best_val_acc", best)
    run.log_confusion_matrix(
        "confusion",
        {
            "schema_type": "confusion_matrix",
            "schema_version": "1.0.0",
            "data": {"class_labels": list(classes), "matrix": best_matrix.tolist()},
        },
    )
    log_predictions_picture(model, loaders["val"], device, classes)
    print("best val acc %.4f" % best)


if __name__ == "__main__":
    main()
