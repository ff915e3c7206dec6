"""DistributedOptimizer and what belongs to it, against the same training in one process. Python 3.6, torch 1.6 and newer."""

import copy
import functools
import operator
import os
import warnings

import horovod.torch as hvd
import torch
from checks import raises, run_checks
from torch import nn

hvd.init()
R, N = hvd.rank(), hvd.size()
DATA = torch.manual_seed(5) and torch.randn(16 * N, 6, dtype=torch.float64)
TARGET = DATA.sin().sum(1, keepdim=True)
MINE = slice(R, None, N)


def make_model(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 1)).double()


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)


def loss_of(model, part):
    return nn.functional.mse_loss(model(DATA[part]), TARGET[part])


def train_alone(make_optimizer=sgd, steps=6):
    """One process with the whole batch: what all ranks together must come to."""
    model = make_model()
    optimizer = make_optimizer(model)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, slice(None)).backward()
        optimizer.step()
    return model


def train(make_optimizer=sgd, steps=6, **options):
    model = make_model()
    optimizer = hvd.DistributedOptimizer(make_optimizer(model), named_parameters=model.named_parameters(), **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, MINE).backward()
        optimizer.step()
    return model


def close(one, other, tolerance=1e-12):
    for a, b in zip(one.parameters(), other.parameters()):
        assert torch.allclose(a, b, rtol=tolerance, atol=tolerance), (a - b).abs().max()


def all_ranks_same(model):
    """To the last bit."""
    for parameter in model.parameters():
        both = hvd.allgather(parameter.detach().reshape(1, -1))
        assert bool((both == both[0]).all())


def check_equals_one_process_with_the_large_batch():
    model = train()
    close(model, train_alone())
    all_ranks_same(model)


def check_equals_it_with_adam():
    def adam(model):
        return torch.optim.Adam(model.parameters(), lr=0.01)

    close(train(adam), train_alone(adam), 1e-9)


def check_equals_it_with_tiny_buckets():
    os.environ["HOROVOD_FUSION_THRESHOLD"] = "100"
    try:
        model = make_model()
        assert len(hvd.DistributedOptimizer(sgd(model))._buckets) > 3
        close(train(), train_alone())
    finally:
        del os.environ["HOROVOD_FUSION_THRESHOLD"]


def check_predivide():
    close(train(gradient_predivide_factor=2.0), train_alone(), 1e-9)


def check_sum():
    def fast(model):
        return torch.optim.SGD(model.parameters(), lr=0.05 * N)

    def slow(model):
        return torch.optim.SGD(model.parameters(), lr=0.05)

    close(train(slow, op=hvd.Sum), train_alone(fast), 1e-9)


def check_half_precision_on_the_way():
    model = train(compression=hvd.Compression.fp16)
    assert next(model.parameters()).dtype == torch.float64
    close(model, train_alone(), 1e-2)
    all_ranks_same(model)


def check_compression_of_the_users_own():
    class Halved:
        @staticmethod
        def compress(tensor):
            assert tensor.dim() in (1, 2)  # one gradient in its shape, not a bucket
            return tensor * 0.5, "x"

        @staticmethod
        def decompress(tensor, ctx):
            assert ctx == "x"
            return tensor * 2

    close(train(compression=Halved), train_alone(), 1e-9)


def check_backward_passes_per_step():
    model = make_model()
    optimizer = hvd.DistributedOptimizer(sgd(model), backward_passes_per_step=2)
    for _ in range(4):
        optimizer.zero_grad()
        for half in (0, 1):
            rows = torch.arange(R, len(DATA), N)[half::2]
            (nn.functional.mse_loss(model(DATA[rows]), TARGET[rows]) / 2).backward()
        optimizer.step()
    close(model, train_alone(steps=4), 1e-9)


def check_too_many_passes():
    model = make_model()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    loss_of(model, MINE).backward()
    raises(Exception, "backward_passes_per_step", loss_of(model, MINE).backward)
    raises(AssertionError, "before optimizer.step()", optimizer.zero_grad)
    optimizer.step()
    optimizer.zero_grad()


def check_clipping_between_synchronize_and_step():
    model, alone = make_model(), make_model()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    loss_of(model, MINE).backward()
    optimizer.synchronize()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    with optimizer.skip_synchronize():
        optimizer.step()
    loss_of(alone, slice(None)).backward()
    nn.utils.clip_grad_norm_(alone.parameters(), 0.1)
    sgd(alone).step()
    close(model, alone)
    loss_of(model, MINE).backward()
    optimizer.synchronize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimizer.step()
    assert any("skip_synchronize" in str(w.message) for w in caught)


def check_gradients_in_another_order_on_each_rank():
    """And parameters that only one rank uses."""

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList(nn.Linear(6, 1) for _ in range(4))

        def forward(self, x, order):
            for i in order:
                x = x + self.parts[i](x)
            return x

    os.environ["HOROVOD_FUSION_THRESHOLD"] = "8"
    try:
        torch.manual_seed(2)
        model = Branches().double()
        alone = copy.deepcopy(model)
        optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), 0.1))
        orders = [[0, 1, 2], [2, 0, 1]] + [[1, 2, 0]] * N
        for _ in range(3):
            optimizer.zero_grad()
            model(DATA[:3], orders[R]).sum().backward()
            optimizer.step()
        plain = torch.optim.SGD(alone.parameters(), 0.1)
        for _ in range(3):
            plain.zero_grad()
            (sum(alone(DATA[:3], order).sum() for order in orders[:N]) / N).backward()
            plain.step()
        close(model, alone, 1e-9)
        fresh = Branches().double()
        only = hvd.DistributedOptimizer(torch.optim.SGD(fresh.parameters(), 0.1))
        hvd.broadcast_parameters(fresh.state_dict(), 0)
        fresh(DATA[:1], [0] if R == 0 else [3]).sum().backward()
        only.step()
        assert all(p.grad is not None for p in fresh.parameters())
        all_ranks_same(fresh)
    finally:
        del os.environ["HOROVOD_FUSION_THRESHOLD"]


def check_operations_of_the_script_between_gradients():
    """Rank 0 waits for its gradients first, the others for their metric: no rank waits for ever."""
    model = make_model()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    loss = loss_of(model, MINE)
    if R == 0:
        loss.backward()
        optimizer.synchronize()
        handle = hvd.allreduce_async(loss.detach())
        hvd.synchronize(handle)
    else:
        handle = hvd.allreduce_async(loss.detach())
        loss.backward()
        optimizer.synchronize()
        hvd.synchronize(handle)
    with optimizer.skip_synchronize():
        optimizer.step()
    all_ranks_same(model)


def check_unfrozen_and_added_parameters():
    model = make_model()
    model[0].weight.requires_grad_(False)
    model[0].bias.requires_grad_(False)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(list(model[0].parameters()) + list(model[2].parameters()), 0.1)
    )
    loss_of(model, MINE).backward()
    optimizer.step()
    for parameter in model[0].parameters():
        parameter.requires_grad_(True)
    optimizer.add_param_group({"params": list(model[4].parameters()), "lr": 0.01})
    for _ in range(2):
        optimizer.zero_grad()
        model.zero_grad()
        loss_of(model, MINE).backward()
        optimizer.step()
    all_ranks_same(model)


def check_sparse_gradients():
    for sparse_as_dense in (False, True):
        torch.manual_seed(3)
        table = nn.Embedding(2 * N, 3, sparse=True)
        head = nn.Linear(3, 1)
        alone_table, alone_head = copy.deepcopy(table), copy.deepcopy(head)
        parameters = list(table.parameters()) + list(head.parameters())
        optimizer = hvd.DistributedOptimizer(torch.optim.SGD(parameters, 0.5), sparse_as_dense=sparse_as_dense)
        head(table(torch.tensor([0, R + 1]))).sum().backward()
        optimizer.step()
        plain = torch.optim.SGD(list(alone_table.parameters()) + list(alone_head.parameters()), 0.5)
        (sum(alone_head(alone_table(torch.tensor([0, r + 1]))).sum() for r in range(N)) / N).backward()
        plain.step()
        assert torch.allclose(table.weight, alone_table.weight, atol=1e-6)
        assert torch.allclose(head.weight, alone_head.weight, atol=1e-6)


def check_closure():
    model, alone = make_model(), make_model()
    optimizer, plain = hvd.DistributedOptimizer(sgd(model)), sgd(alone)

    def run(model, optimizer, part):
        def closure():
            optimizer.zero_grad()
            loss = loss_of(model, part)
            loss.backward()
            return loss

        return optimizer.step(closure)

    for _ in range(3):
        assert run(model, optimizer, MINE).item() > 0
        run(alone, plain, slice(None))
    close(model, alone)


def check_schedulers_and_state():
    model = make_model()
    inner = sgd(model)
    early = torch.optim.lr_scheduler.LambdaLR(inner, lambda epoch: 0.5)  # made before, for the optimizer inside
    optimizer = hvd.DistributedOptimizer(inner)
    assert isinstance(optimizer, torch.optim.SGD)
    assert optimizer.param_groups[0]["lr"] == 0.025
    assert early.get_last_lr() == [0.025]
    late = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    loss_of(model, MINE).backward()
    optimizer.step()
    late.step()
    assert abs(optimizer.param_groups[0]["lr"] - 0.0025) < 1e-12
    fresh = hvd.DistributedOptimizer(sgd(make_model()))
    fresh.load_state_dict(optimizer.state_dict())
    assert len(fresh.state) == len(optimizer.state) == 6
    raises(TypeError, "state_dict", copy.deepcopy, optimizer)


def check_step_hooks_run_once():
    model = make_model()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    if not hasattr(optimizer, "register_step_post_hook"):
        return  # torch 2.0
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    optimizer.load_state_dict(optimizer.state_dict())
    loss_of(model, MINE).backward()
    optimizer.step()
    assert seen == [1]


def check_wrong_arguments():
    model = make_model()
    names = list(model.named_parameters())
    raises(ValueError, "unique", hvd.DistributedOptimizer, sgd(model), [("a", p) for _, p in names])
    raises(ValueError, "tuples", hvd.DistributedOptimizer, sgd(model), list(model.parameters()))
    raises(ValueError, "not named", hvd.DistributedOptimizer, sgd(model), names[1:])
    raises(ValueError, "op != Average", hvd.DistributedOptimizer, sgd(model), op=hvd.Sum, gradient_predivide_factor=2.0)
    raises(NotImplementedError, "Adasum", hvd.DistributedOptimizer, sgd(model), op=hvd.Adasum)


def check_broadcast_parameters():
    model = make_model(seed=R)
    norm = nn.BatchNorm1d(3)
    norm.num_batches_tracked.fill_(R + 7)
    hvd.broadcast_parameters(model.state_dict(), root_rank=1)
    close(model, make_model(seed=1))
    hvd.broadcast_parameters(norm.state_dict(), root_rank=1)
    assert int(norm.num_batches_tracked) == 8
    hvd.broadcast_parameters(list(make_model(seed=R).named_parameters()), 0)
    hvd.broadcast_parameters(make_model(seed=R).parameters(), 0)
    other = nn.Linear(6, 2 if R == 1 else 3)
    raises(ValueError, "rank 1 has other parameters", hvd.broadcast_parameters, other.state_dict(), 0)
    raises(ValueError, "state_dict", hvd.broadcast_parameters, 5, 0)


def check_broadcast_optimizer_state():
    for root in (0, 1):
        model = make_model()
        optimizer = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters(), lr=0.1 * (R + 1), betas=(0.8, 0.9)))
        if root == R:  # only here is there a state yet
            plain = torch.optim.Adam(model.parameters(), lr=0.3)
            for p in model.parameters():
                p.grad = torch.ones_like(p)
            for _ in range(3):
                plain.step()
            optimizer.load_state_dict(plain.state_dict())
        hvd.broadcast_optimizer_state(optimizer, root_rank=root)
        assert optimizer.param_groups[0]["lr"] == 0.3
        assert optimizer.param_groups[0]["betas"] == (0.9, 0.999)
        for p in model.parameters():
            state = optimizer.state[p]
            assert float(state["step"]) == 3
            assert state["exp_avg"].shape == p.shape
            assert abs(float(state["exp_avg"].reshape(-1)[0]) - 0.271) < 1e-6
        hvd.broadcast_parameters(model.state_dict(), root)
        model.zero_grad()
        loss_of(model, MINE).backward()
        optimizer.step()
        all_ranks_same(model)


def check_training_with_join():
    """Rank r has r + 2 batches. Those who go on take the average with zeros for those who stopped."""
    model, alone = make_model(), make_model()
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), 0.05))
    for _ in range(R + 2):
        optimizer.zero_grad()
        loss_of(model, MINE).backward()
        optimizer.step()
    assert hvd.join() == N - 1
    plain = torch.optim.SGD(alone.parameters(), 0.05)
    for i in range(N + 1):
        plain.zero_grad()
        (sum(loss_of(alone, slice(r, None, N)) for r in range(N) if r + 2 > i) / N).backward()
        plain.step()
    hvd.broadcast_parameters(model.state_dict(), N - 1)
    close(model, alone, 1e-9)


def check_elastic():
    folder = os.environ["ROOKERY_RESUME_DIR"] = os.path.join(os.getcwd(), "resume")
    if R == 0 and not os.path.isdir(folder):
        os.mkdir(folder)
    hvd.barrier()
    resets, batches = [], []

    def make(seed):
        model = make_model(seed)
        sampler = hvd.elastic.ElasticSampler(range(8 * N + 1), shuffle=True)
        made = hvd.elastic.TorchState(model, sgd(model), sampler=sampler, epoch=0, batch=0)
        made.register_reset_callbacks([lambda: resets.append(1)])
        return made

    @hvd.elastic.run
    def work(state, until):
        for index in state.sampler:
            state.sampler.record_indices([index])
            batches.append(index)
            state.batch += 1
            state.optimizer.zero_grad()
            loss_of(state.model, slice(None)).backward()
            state.optimizer.step()
            if state.batch == until:
                state.commit()
                state.batch = -1  # not committed
                raise hvd.HorovodInternalError("a rank has gone.")
        return state.batch

    first = make(seed=R)
    assert len(first.sampler) == 9
    raises(hvd.HorovodInternalError, "last commit", work, first, 3)
    committed = copy.deepcopy(first.model.state_dict())
    second = make(seed=7 + R)  # as the next attempt does
    assert work(second, 99) == 9
    all_ranks_same(second.model)
    assert resets == [1]
    assert set(functools.reduce(operator.iadd, hvd.allgather_object(batches), [])) == set(range(8 * N + 1))
    first.restore()
    assert first.batch == 3
    assert all(bool((v == committed[k]).all()) for k, v in first.model.state_dict().items())
    second.sampler.set_epoch(1)
    assert second.sampler.state_dict() == {"epoch": 1, "processed_indices": set()}
    del os.environ["ROOKERY_RESUME_DIR"]


run_checks(globals())
