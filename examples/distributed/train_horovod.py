"""Trains a small network on made-up digits with Horovod, as Horovod's own example does; the loss shown is the same on all ranks."""

import argparse
import os

import horovod.torch as hvd
import torch
from azureml.core.run import Run

CLASSES = 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    hvd.init()
    run = Run.get_context()
    if torch.cuda.is_available():
        torch.cuda.set_device(hvd.local_rank())

    torch.manual_seed(hvd.rank())  # made the same by the broadcast below
    net = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(28 * 28, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES)
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02 * hvd.size(), momentum=0.5)
    hvd.broadcast_parameters(net.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())
    digits, labels = make_digits(256, seed=hvd.rank())

    for epoch in range(args.epochs):
        for first in range(0, len(labels), 32):
            chosen = slice(first, first + 32)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(digits[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
        mean = hvd.allreduce(torch.nn.functional.cross_entropy(net(digits), labels).detach(), name="loss").item()
        print("rank %d of %d epoch %d loss %.6f" % (hvd.rank(), hvd.size(), epoch + 1, mean), flush=True)
        if hvd.rank() == 0:
            run.log("loss", mean)
    if hvd.rank() == 0:
        os.makedirs("outputs", exist_ok=True)
        torch.save(net.state_dict(), "outputs/model.pt")
    hvd.shutdown()


def make_digits(count, seed):
    """Ten patterns, the same for everybody, with noise of one's own."""
    patterns = torch.randn(CLASSES, 1, 28, 28, generator=torch.Generator().manual_seed(1234))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    return patterns[labels] + torch.randn(count, 1, 28, 28, generator=generator), labels


if __name__ == "__main__":
    main()
