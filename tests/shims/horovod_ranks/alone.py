"""One process that nobody launched: everything works, without a process group. Python 3.6."""

import horovod
import horovod.torch as hvd
import torch
import torch.distributed
from checks import raises, run_checks


def check_before_init():
    assert not hvd.is_initialized()
    for call in (hvd.rank, hvd.size, hvd.local_rank):
        raises(ValueError, "Horovod has not been initialized; use hvd.init().", call)
    raises(ValueError, "hvd.init", hvd.allreduce, torch.ones(1))


def check_init():
    hvd.init()
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)
    assert (hvd.cross_rank(), hvd.cross_size()) == (0, 1)
    assert not torch.distributed.is_initialized()
    raises(NotImplementedError, "hvd.init", hvd.init, comm=object())


def check_operations():
    x = torch.tensor([1.0, 3.0])
    for op in (hvd.Average, hvd.Sum, hvd.Min, hvd.Max, hvd.Product):
        assert hvd.allreduce(x, op=op).tolist() == [1.0, 3.0]
    got = hvd.allreduce(x)
    got.zero_()
    assert x.tolist() == [1.0, 3.0]  # what came back was a tensor of its own
    assert hvd.allreduce(x, prescale_factor=0.5, postscale_factor=4).tolist() == [2.0, 6.0]
    assert hvd.allgather(x).tolist() == hvd.broadcast(x, 0).tolist() == hvd.reducescatter(x).tolist() == [1.0, 3.0]
    assert hvd.alltoall(x).tolist() == [1.0, 3.0]
    assert hvd.broadcast_object("a") == "a"
    assert hvd.allgather_object("a") == ["a"]
    assert hvd.join() == 0
    hvd.barrier()


def check_training():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), 0.1), named_parameters=model.named_parameters()
    )
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    before = model.weight.detach().clone()
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    assert torch.allclose(model.weight, before - 0.1)
    optimizer.zero_grad()
    norm = hvd.SyncBatchNorm(3)
    assert torch.allclose(norm(torch.eye(3)).sum(), torch.zeros(()), atol=1e-5)


def check_what_is_refused():
    assert horovod.__version__ == "0.28.1+rookery"
    raises(RuntimeError, "MpiConfiguration", horovod.run, lambda: None, np=2)
    for name in ("tensorflow", "keras", "mxnet", "spark", "ray"):
        raises(ImportError, "horovod.torch only", __import__, "horovod." + name)


run_checks(globals())
