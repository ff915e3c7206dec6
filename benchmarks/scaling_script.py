"""What `benchmarks/launch.py` has two ranks do: the same training step alone, side by side, and together through DDP, in turns.

The model is all computing: images are made once, activations stay in the caches, and the blocks share one convolution, so that there is
much to compute and little to add up. One thread per process. What the machine does besides hits all three kinds of a round alike.

Two jobs of it take turns as well, a round each, through two pipes (BENCH_TURNS=FOLDER, BENCH_PLACE=0|1): what differs between them is then
not what the machine did a minute later. With BENCH_ONLY_START it ends when it has said that it has started.
"""

import os
import sys
import time

print(f"started {time.time():.6f}", flush=True)
if os.environ.get("BENCH_ONLY_START"):
    sys.exit()

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

DEPTH, WIDTH, SIDE, BATCH = 24, 64, 8, 96
ROUNDS, ROUND_S = 16, 0.5


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, WIDTH, 3, padding=1)
        self.block = torch.nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.last = torch.nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.first(x)
        for _ in range(DEPTH):
            x = x + torch.relu(self.block(x)) / DEPTH
        return self.last(x.mean((2, 3)))


def main():
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    x, y = torch.randn(BATCH, 3, SIDE, SIDE), torch.randint(10, (BATCH,))
    plain = Trainer(Net(), x, y)
    together = Trainer(torch.nn.parallel.DistributedDataParallel(Net(), gradient_as_bucket_view=True), x, y)
    plain.speeds(3)
    together.speeds(3)
    count = torch.tensor([plain.speeds(3)[0] * ROUND_S / BATCH])
    dist.all_reduce(count, dist.ReduceOp.MIN)
    steps = max(2, int(count))
    turns = Turns(rank)
    rounds = []
    for _ in range(ROUNDS):
        turns.wait()
        rounds.append(one_round(plain, together, steps, rank, world))
        turns.give()
    speeds = torch.tensor(rounds, dtype=torch.float64)
    dist.all_reduce(speeds)
    if rank == 0:
        (alone, pair, ddp), (alone_cpu, _, ddp_cpu) = speeds[..., 0].unbind(1), speeds[..., 1].unbind(1)
        print(f"images/s {' '.join(f'{one:.3f}' for one in ddp.tolist())}", flush=True)
        print(f"ceiling {(100 * pair / alone).median():.3f}", flush=True)
        print(f"efficiency {(100 * ddp / alone).median():.3f}", flush=True)
        print(f"by_cpu_time {(100 * ddp_cpu / alone_cpu).median():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


class Turns:
    """Rank 0 waits for its job's turn; the others wait for rank 0 at the next barrier."""

    def __init__(self, rank):
        folder, place = os.environ["BENCH_TURNS"], int(os.environ["BENCH_PLACE"])
        self.rank = rank
        self.mine, self.other = (os.open(os.path.join(folder, str(n)), os.O_RDWR) for n in (place, 1 - place))

    def wait(self):
        if self.rank == 0:
            os.read(self.mine, 1)
        dist.barrier()

    def give(self):
        dist.barrier()
        if self.rank == 0:
            os.write(self.other, b".")


class Trainer:
    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def speeds(self, steps):
        """Images per second of the clock, and of this process's own computing (all of its threads)."""
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            loss = torch.nn.functional.cross_entropy(self.net(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        images = steps * len(self.y)
        return images / (time.perf_counter() - start), images / (time.process_time() - cpu)


def one_round(plain, together, steps, rank, world):
    """This rank's speeds: with nobody else computing, beside the others without a word, and with DDP."""
    alone = (0.0, 0.0)
    for turn in range(world):
        dist.barrier()
        if turn == rank:
            alone = plain.speeds(steps)
    dist.barrier()
    pair = plain.speeds(steps)
    dist.barrier()
    return [alone, pair, together.speeds(steps)]


main()
