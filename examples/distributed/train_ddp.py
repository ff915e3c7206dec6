"""Trains a small network on made-up pictures with DistributedDataParallel; the loss shown is the same on all ranks."""

import argparse
import os

import torch
import torch.distributed as dist
from azureml.core.run import Run
from torch.nn.parallel import DistributedDataParallel

CLASSES = 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
    args = parser.parse_args()
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device("cuda", args.local_rank) if torch.cuda.is_available() else torch.device("cpu")
    rank, world = dist.get_rank(), dist.get_world_size()
    run = Run.get_context()

    torch.manual_seed(0)  # the same weights everywhere
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(8 * 16, CLASSES),
    )  # fmt: skip
    net = DistributedDataParallel(net.to(device))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    pictures, labels = make_pictures(96, seed=rank)  # other pictures on every rank
    pictures, labels = pictures.to(device), labels.to(device)

    for epoch in range(args.epochs):
        for first in range(0, len(labels), 32):
            chosen = slice(first, first + 32)
            loss = torch.nn.functional.cross_entropy(net(pictures[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()  # gradients are averaged over all ranks here
            optimizer.step()
        mean = torch.nn.functional.cross_entropy(net(pictures), labels).detach()
        dist.all_reduce(mean)
        mean = (mean / world).item()
        # One write per line: under torchrun the processes of a node share a log, and print writes the line's end apart.
        print("rank %d of %d epoch %d loss %.6f\n" % (rank, world, epoch + 1, mean), end="", flush=True)
        if rank == 0:
            run.log("loss", mean)
    if rank == 0:
        os.makedirs("outputs", exist_ok=True)
        torch.save(net.module.state_dict(), "outputs/model.pt")
    dist.barrier()
    dist.destroy_process_group()


def make_pictures(count, seed):
    """Noise with a bright bar: where the bar is, is the class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    pictures = torch.randn(count, 1, 16, 16, generator=generator) * 0.5
    for picture, label in zip(pictures, labels):
        picture[0, int(label) * 5 : int(label) * 5 + 5] += 1.0
    return pictures, labels


if __name__ == "__main__":
    main()
