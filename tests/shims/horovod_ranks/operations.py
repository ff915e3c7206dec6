"""Every collective operation, on each rank of a world. Python 3.6, torch 1.6 and newer."""

import horovod.torch as hvd
import torch
from checks import raises, run_checks

hvd.init()
R, N = hvd.rank(), hvd.size()
TOTAL = N * (N + 1) // 2  # of the ranks' values, which are rank + 1
DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.float32, torch.float64, torch.bfloat16,
]  # fmt: skip


def mine(*shape, **kwargs):
    return torch.full(shape, float(R + 1)).to(kwargs.get("dtype", torch.float32))


def same(tensor, value):
    assert bool((tensor == torch.tensor(float(value)).to(tensor.dtype)).all()), (tensor, value)


def check_ranks():
    assert sorted(hvd.allgather_object(R)) == list(range(N))
    assert hvd.local_size() * hvd.cross_size() == N
    assert hvd.rank() == hvd.cross_rank() * hvd.local_size() + hvd.local_rank()
    assert hvd.is_initialized()
    assert hvd.is_homogeneous()
    hvd.init()  # a second time changes nothing
    assert hvd.rank() == R
    assert hvd.gloo_built()
    assert not hvd.mpi_built()
    assert not hvd.mpi_threads_supported()


def check_allreduce_all_ops_and_types():
    product = 1
    for value in range(1, N + 1):
        product *= value
    wanted = {hvd.Sum: TOTAL, hvd.Average: TOTAL / float(N), hvd.Min: 1, hvd.Max: N, hvd.Product: product}
    for dtype in DTYPES:
        for op, value in wanted.items():
            value = value if dtype.is_floating_point else int(value)
            tensor = mine(2, 3, dtype=dtype)
            got = hvd.allreduce(tensor, op=op)
            assert got.dtype == dtype
            assert got.shape == tensor.shape
            same(got, value)
            same(tensor, R + 1)  # untouched
            assert hvd.allreduce_(tensor, op=op) is tensor
            same(tensor, value)


def check_negative_integers_are_cut_off():
    assert hvd.allreduce(torch.tensor([-1 if R == 0 else 0, -3 * N])).tolist() == [0, -3 * N]


def check_odd_shapes():
    table = torch.zeros(3, 4)
    hvd.allreduce_(table.t()[1:3].add_(R + 1), op=hvd.Sum)
    same(table[:, 1:3], TOTAL)
    same(table[:, 3:], 0)
    assert hvd.allreduce(torch.zeros(0, 3)).shape == (0, 3)
    assert hvd.allreduce(torch.tensor(float(R))).shape == ()
    same(hvd.allreduce(torch.tensor([R == 0, False, True]), op=hvd.Max)[1:2].float(), 0)
    got = hvd.allreduce(torch.tensor([1j * R + 1]), op=hvd.Sum)
    assert got[0].item() == complex(N, TOTAL - N)


def check_old_and_wrong_arguments():
    same(hvd.allreduce(mine(2), average=False), TOTAL)
    same(hvd.allreduce(mine(2), True), TOTAL / float(N))
    raises(ValueError, "only one of them", hvd.allreduce, mine(2), average=True, op=hvd.Sum)
    raises(ValueError, "does not exist", hvd.allreduce, mine(2), op=77)
    raises(NotImplementedError, "Adasum", hvd.allreduce, mine(2), op=hvd.Adasum)
    raises(NotImplementedError, "all ranks", hvd.allreduce, mine(2), process_set=hvd.ProcessSet([0]))
    raises(ValueError, "ranks 0 to", hvd.broadcast, mine(2), N)
    raises(ValueError, "sparse", hvd.allreduce, torch.sparse_coo_tensor([[0]], [1.0], (2,)))
    same(hvd.allreduce(mine(2), process_set=hvd.global_process_set, op=hvd.Sum), TOTAL)


def check_scale_factors():
    same(hvd.allreduce(mine(2), op=hvd.Sum, prescale_factor=0.5, postscale_factor=4), 2 * TOTAL)
    same(hvd.allreduce(mine(2, dtype=torch.int32), op=hvd.Sum, postscale_factor=0.5), TOTAL // 2)


def check_async_handles():
    tensors = [mine(5) * i for i in range(1, 6)]
    handles = [hvd.allreduce_async_(t, name=f"t{i}", op=hvd.Sum) for i, t in enumerate(tensors)]
    for i in reversed(range(5)):  # waited for in another order than started
        same(hvd.synchronize(handles[i]), TOTAL * (i + 1))
        assert hvd.poll(handles[i])
        assert hvd.synchronize(handles[i]) is tensors[i]
    same(hvd.synchronize(hvd.broadcast_async(mine(2), 0)), 1)
    assert hvd.synchronize(hvd.allgather_async(mine(1))).tolist() == [i + 1.0 for i in range(N)]
    output, received = hvd.synchronize(hvd.alltoall_async(torch.arange(N)))
    assert output.tolist() == [R] * N
    assert received.tolist() == [1] * N


def check_a_name_is_unique_while_under_way():
    # The script's own use of torch.distributed goes on beside it: here it holds the others back.
    if R != 0:
        torch.distributed.barrier()
    first = hvd.allreduce_async(torch.ones(10), name="one")
    if R == 0:
        assert not hvd.poll(first)
        raises(ValueError, "'one' is under way", hvd.allreduce_async, torch.ones(2), name="one")
        torch.distributed.barrier()
    same(hvd.synchronize(first), 1)
    same(hvd.allreduce(torch.ones(2), name="one"), 1)  # over, so the name is free


def check_grouped():
    tensors = [mine(2), mine(3, dtype=torch.int64), mine(1, 4), mine(2, dtype=torch.float64)]
    for got, sent in zip(hvd.grouped_allreduce(tensors, op=hvd.Sum), tensors):
        assert got.shape == sent.shape
        assert got.dtype == sent.dtype
        same(got, TOTAL)
    assert all(a is b for a, b in zip(hvd.grouped_allreduce_(tensors, op=hvd.Max), tensors))
    for tensor in tensors:
        same(tensor, N)
    assert [g.shape[0] for g in hvd.grouped_allgather([mine(1), mine(R + 1)])] == [N, TOTAL]


def check_compression():
    got = hvd.allreduce(mine(3) / 3, compression=hvd.Compression.fp16)
    assert got.dtype == torch.float32
    assert abs(got[0].item() - TOTAL / 3.0 / N) < 1e-2
    assert hvd.allreduce(mine(3, dtype=torch.int64), compression=hvd.Compression.fp16).dtype == torch.int64


def check_allgather():
    for dtype in [*DTYPES, torch.bool]:
        got = hvd.allgather(mine(R + 1, 2, dtype=dtype))
        assert got.dtype == dtype
        assert got.shape == (TOTAL, 2)
        wanted = [k + 1 for k in range(N) for _ in range(k + 1)]
        assert got[:, 0].tolist() == torch.tensor(wanted).to(dtype).tolist()
    assert hvd.allgather(torch.tensor(R)).tolist() == list(range(N))
    assert hvd.allgather(torch.zeros(0 if R == 0 else 2, 3)).shape == (2 * (N - 1), 3)
    assert hvd.allgather(torch.zeros(0, 3)).shape == (0, 3)
    raises(ValueError, "differ", hvd.allgather, torch.zeros(2, 2 if R == 0 else 3))
    raises(ValueError, "differ", hvd.allgather, mine(2, dtype=torch.float64 if R == 0 else torch.float32))


def check_broadcast():
    for dtype in [*DTYPES, torch.bool]:
        for root in range(N):
            tensor = mine(2, 2, dtype=dtype)
            same(hvd.broadcast(tensor, root), root + 1)
            same(tensor, R + 1)
            assert hvd.broadcast_(tensor, root) is tensor
            same(tensor, root + 1)


def check_alltoall():
    sent = torch.arange(N).repeat(R + 1).view(R + 1, N).t().reshape(-1) * 10 + R
    output, received = hvd.alltoall(sent, splits=torch.tensor([R + 1] * N))
    assert output.tolist() == [R * 10 + k for k in range(N) for _ in range(k + 1)]
    assert received.tolist() == [k + 1 for k in range(N)]
    assert hvd.alltoall(torch.arange(2.0 * N)).tolist() == [2.0 * R, 2.0 * R + 1] * N
    raises(ValueError, "evenly", hvd.alltoall, torch.zeros(N + 1))
    raises(ValueError, "add up", hvd.alltoall, torch.zeros(2), splits=[3] * N)


def check_reducescatter():
    whole = torch.arange(2.0 * N + 1).view(-1, 1) * (R + 1)
    rows = [[v * TOTAL] for v in range(2 * N + 1)]
    begin = 0 if R == 0 else 3 + 2 * (R - 1)
    assert hvd.reducescatter(whole, op=hvd.Sum).tolist() == rows[begin : begin + (3 if R == 0 else 2)]
    assert hvd.synchronize(hvd.reducescatter_async(torch.ones(N))).tolist() == [1.0]


def check_objects():
    assert hvd.broadcast_object({"rank": R, "t": torch.ones(2) * R} if R == 1 else None, 1)["rank"] == 1
    assert hvd.broadcast_object("x" * 100000 if R == 0 else None) == "x" * 100000
    assert hvd.allgather_object(["y"] * R) == [["y"] * k for k in range(N)]
    assert hvd.broadcast_object_fn(0)(R) == 0


def check_gradients_of_operations():
    x = mine(2).requires_grad_()
    hvd.allreduce(x, op=hvd.Sum).mul(R + 1).sum().backward()
    same(x.grad, TOTAL)
    x = mine(R + 1).requires_grad_()
    (hvd.allgather(x) * (R + 1)).sum().backward()
    same(x.grad, TOTAL / float(N))
    x = mine(2).requires_grad_()
    hvd.broadcast(x, 0).mul(R + 1).sum().backward()
    same(x.grad, TOTAL / float(N) if R == 0 else 0)
    x = mine(N).requires_grad_()
    hvd.alltoall(x).mul(torch.arange(1.0, N + 1)).sum().backward()
    same(x.grad, R + 1)
    x = mine(N).requires_grad_()
    hvd.reducescatter(x, op=hvd.Sum).mul(R + 1).sum().backward()
    assert x.grad.tolist() == [k + 1.0 for k in range(N)]
    assert not hvd.allreduce(mine(2)).requires_grad


def check_sparse():
    entries = torch.sparse_coo_tensor(torch.tensor([[0, R + 1]]), torch.ones(2, 3), (N + 2, 3))
    got = hvd.sparse_allreduce_async(entries, "s", hvd.Sum)().to_dense()
    assert got[:, 0].tolist() == [N] + [1.0] * N + [0.0]


def check_sync_batch_norm():
    torch.manual_seed(0)
    whole = torch.randn(3 * N + 1, 4, 5, dtype=torch.float64) + 100
    parts = list(torch.split(whole, [4] + [3] * (N - 1)))
    weights = torch.randn(whole.shape, dtype=torch.float64)
    plain, sync = torch.nn.BatchNorm1d(4).double(), hvd.SyncBatchNorm(4).double()
    x = whole.clone().requires_grad_()
    (plain(x) * weights).sum().backward()
    y = parts[R].clone().requires_grad_()
    begin = sum(len(p) for p in parts[:R])
    (sync(y) * weights[begin : begin + len(y)]).sum().backward()
    assert torch.allclose(y.grad, x.grad[begin : begin + len(y)])
    assert torch.allclose(sync.running_mean, plain.running_mean)
    assert torch.allclose(sync.running_var, plain.running_var)
    for ours, theirs in zip(sync.parameters(), plain.parameters()):
        assert torch.allclose(hvd.allreduce(ours.grad, op=hvd.Sum), theirs.grad)
    assert torch.allclose(sync.eval()(whole), plain.eval()(whole))


def check_join_with_uneven_data():
    for _ in range(2):  # it can be done again
        seen = [hvd.allreduce(torch.ones(2), op=hvd.Sum)[0].item() for _ in range(2 + R)]
        assert seen == [N, N] + [N - 1 - k for k in range(R)], seen
        assert hvd.join() == N - 1
    same(hvd.allreduce(mine(2), op=hvd.Sum), TOTAL)


def check_join_with_other_operations():
    if R == 0:
        assert hvd.join() == 1
        return
    assert hvd.allgather(mine(1)).tolist() == [k + 1.0 for k in range(1, N)]
    same(hvd.allreduce(mine(2), op=hvd.Min), 2)
    same(hvd.allreduce(mine(2, dtype=torch.int32), op=hvd.Product), {2: 2, 3: 6, 4: 24}[N])
    same(hvd.broadcast(mine(2), 1), 2)
    if R != 1:
        assert hvd.join() == 1
        return
    same(hvd.allreduce(mine(2), op=hvd.Sum), 2)
    assert hvd.join() == 1


def check_barrier_and_metric_average():
    hvd.barrier()
    value = hvd.allreduce(torch.tensor(float(R)), name="avg_loss").item()
    assert value == (N - 1) / 2.0


def check_shutdown_and_again():
    hvd.shutdown()
    assert not hvd.is_initialized()
    raises(ValueError, "hvd.init", hvd.rank)
    hvd.init()
    same(hvd.allreduce(mine(2), op=hvd.Sum), TOTAL)


run_checks(globals())
