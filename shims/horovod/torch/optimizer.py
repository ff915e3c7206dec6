"""DistributedOptimizer: any optimizer of torch, with gradients averaged over all ranks while they are computed.

Gradients are packed into buckets in the reverse order of the parameters, about the order in which they become ready. A
bucket is sent when all of it is there and the buckets before it were sent, so that every rank sends in the same order.
"""

import contextlib
import os
import threading
import warnings

import torch

from horovod.common.process_sets import check_global, global_process_set
from horovod.torch import operations
from horovod.torch.compression import Compression
from horovod.torch.mpi_ops import sparse_allreduce_async
from horovod.torch.process import size

__all__ = ["DistributedOptimizer"]

BUCKET_BYTES = 25 * 1024 * 1024
FIRST_BYTES = 1024 * 1024  # small, so that the first one leaves early
TOO_OFTEN = (
    "Gradients were computed more than backward_passes_per_step times before call to step(). Increase "
    "backward_passes_per_step to accumulate gradients locally."
)


def DistributedOptimizer(
    optimizer,
    named_parameters=None,
    compression=Compression.none,
    backward_passes_per_step=1,
    op=operations.Average,
    gradient_predivide_factor=1.0,
    num_groups=0,
    groups=None,
    sparse_as_dense=False,
    process_set=global_process_set,
):
    """`optimizer` with its state and parameter groups, as one that averages gradients in `step`.

    `num_groups` and `groups` are accepted; how gradients are packed is decided here (HOROVOD_FUSION_THRESHOLD, in
    bytes, is the size of a bucket).

    Raises:
        ValueError: names are missing or not unique, or factor and op do not go together.
        NotImplementedError: Adasum, or a process set.
    """
    op = operations.check_op(op)
    check_global(process_set)
    if gradient_predivide_factor != 1.0 and op != operations.Average:
        raise ValueError("gradient_predivide_factor not supported with op != Average")
    if int(backward_passes_per_step) < 1:
        raise ValueError("backward_passes_per_step={} must be at least 1.".format(backward_passes_per_step))
    kind = type(optimizer)
    made = type(kind.__name__, (_Distributed, kind), {"__module__": kind.__module__})._taking_over(optimizer)
    made._begin(
        _names(made, named_parameters), compression, int(backward_passes_per_step), op, gradient_predivide_factor,
        sparse_as_dense,
    )  # fmt: skip
    return made


class _Distributed(object):
    """Goes before the optimizer's own class."""

    @classmethod
    def _taking_over(cls, optimizer):
        made = cls.__new__(cls)
        # Shared and not copied: a scheduler that was made for the first one reaches this one too.
        made.__dict__.update({k: v for k, v in optimizer.__dict__.items() if k not in ("step", "zero_grad")})
        return made

    def _begin(self, names, compression, passes, op, predivide, sparse_as_dense):
        self._parameter_names = names
        self._compression, self._op, self._sparse_as_dense = compression, op, sparse_as_dense
        self._prescale, self._postscale = 1.0 / predivide, predivide
        self.backward_passes_per_step = passes
        self._synchronized, self._should_synchronize = False, True
        self._lock = threading.RLock()
        self._hooks = []  # on old versions a hook lives only as long as what it hangs on
        self._known = {}  # parameter -> its bucket
        self._passes = {}  # parameter -> backward passes since the last step
        self._buckets, self._next = [], 0
        if size() > 1:
            self._adopt_parameters()

    def set_backward_passes_per_step(self, passes):
        self.backward_passes_per_step = passes

    def synchronize(self):
        """Wait until all gradients are averaged; `skip_synchronize` keeps `step` from doing it again."""
        if size() > 1:
            self._adopt_parameters()
            with self._lock:
                self._send(all_of_them=True)
            for bucket in self._buckets:
                bucket.take()
            self._passes, self._next = {}, 0
        self._synchronized = True

    @contextlib.contextmanager
    def skip_synchronize(self):
        """`step` inside does not average: gradients were, and may have been changed (clipped) since."""
        self._should_synchronize = False
        try:
            yield
        finally:
            self._should_synchronize = True

    def step(self, closure=None):
        if closure is not None:
            return super(_Distributed, self).step(self._averaging(closure))
        if self._should_synchronize:
            if self._synchronized:
                warnings.warn(
                    "optimizer.step() called without optimizer.skip_synchronize() context after "
                    "optimizer.synchronize(). This can cause training slowdown. You may want to consider using "
                    "optimizer.skip_synchronize() context if you use optimizer.synchronize() in your code.",
                    stacklevel=2,
                )
            self.synchronize()
        self._synchronized = False
        return super(_Distributed, self).step()

    step.hooked = True  # torch wraps `step` for its own hooks; it has wrapped the one inside

    def zero_grad(self, *args, **kwargs):
        if self._passes:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before optimizer.step() or "
                "optimizer.synchronize(). This is prohibited as it can cause a race condition."
            )
        return super(_Distributed, self).zero_grad(*args, **kwargs)

    def __reduce__(self):
        raise TypeError("A DistributedOptimizer cannot be pickled. Save optimizer.state_dict().")

    def _averaging(self, closure):
        def averaged():
            loss = closure()
            if self._should_synchronize:
                self.synchronize()
            self._synchronized = False
            return loss

        return averaged

    def _adopt_parameters(self):
        """Put parameters that are new here (at first all; later added or unfrozen ones) into buckets of their own."""
        new = [p for group in self.param_groups for p in group["params"] if p.requires_grad and p not in self._known]
        if not new:
            return
        for bucket in _pack(list(reversed(new)), self):
            self._buckets.append(bucket)
            for parameter in bucket.parameters:
                self._known[parameter] = bucket
        for parameter in new:
            self._hooks.append(_hook_after_gradient(parameter, self._on_gradient))

    def _on_gradient(self, parameter):
        with self._lock:
            done = self._passes.get(parameter, 0) + 1
            if done > self.backward_passes_per_step:
                raise AssertionError(TOO_OFTEN)
            self._passes[parameter] = done
            if done == self.backward_passes_per_step:
                self._known[parameter].num_ready += 1
                self._send()

    def _send(self, all_of_them=False):
        """Start the buckets that are ready, in their order; those that no gradient came for only at the end."""
        while self._next < len(self._buckets):
            bucket = self._buckets[self._next]
            if not all_of_them and bucket.num_ready < len(bucket.parameters):
                return
            bucket.start()
            self._next += 1


class _Bucket(object):
    """Gradients that travel together."""

    def __init__(self, parameters, optimizer):
        self.parameters, self._optimizer = parameters, optimizer
        self.num_ready = 0
        self._handle = self._flat = self._ctx = None
        self._sent = []
        self._is_packed = optimizer._compression in (Compression.none, Compression.fp16)

    def start(self):
        optimizer = self._optimizer
        self._sent = [parameter for parameter in self.parameters if not self._stays_sparse(parameter)]
        if not self._sent:
            return
        gradients = [_dense_gradient(parameter) for parameter in self._sent]
        if self._is_packed:
            count = sum(gradient.numel() for gradient in gradients)
            if self._flat is None or self._flat.numel() != count:
                self._flat = torch.empty(count, dtype=gradients[0].dtype, device=gradients[0].device)
            torch.cat([gradient.reshape(-1) for gradient in gradients], out=self._flat)
            wanted = self._flat
        else:
            wanted = gradients[0].clone()  # a compression of the user's own sees one gradient in its shape
        packed, self._ctx = optimizer._compression.compress(wanted)
        self._handle = operations.start_allreduce(
            [packed], optimizer._op, optimizer._prescale, optimizer._postscale, in_place=True, kind="gradients"
        )

    def take(self):
        """Wait, and put the averages where the gradients were."""
        self.num_ready = 0
        for parameter in self.parameters:
            if self._stays_sparse(parameter):
                parameter.grad = sparse_allreduce_async(parameter.grad, None, self._optimizer._op)()
        handle, self._handle = self._handle, None
        if handle is None:
            return
        flat = self._optimizer._compression.decompress(handle.synchronize()[0], self._ctx)
        parts = torch.split(flat.reshape(-1), [parameter.numel() for parameter in self._sent])
        with torch.no_grad():
            for parameter, part in zip(self._sent, parts):
                if parameter.grad is not None:
                    parameter.grad.copy_(part.view(parameter.shape))

    def _stays_sparse(self, parameter):
        gradient = parameter.grad
        return gradient is not None and gradient.is_sparse and not self._optimizer._sparse_as_dense


def _dense_gradient(parameter):
    if parameter.grad is None:
        # Not computed here, but perhaps on another rank: all must send something.
        parameter.grad = torch.zeros_like(parameter)
    elif parameter.grad.is_sparse:
        parameter.grad = parameter.grad.to_dense()
    return parameter.grad.detach()


def _pack(parameters, optimizer):
    """Neighbours of one type and device, up to a size."""
    limit = int(os.environ.get("HOROVOD_FUSION_THRESHOLD") or BUCKET_BYTES)
    is_single = optimizer._compression not in (Compression.none, Compression.fp16)
    open_ones, packed = {}, []
    for parameter in parameters:
        key = (parameter.dtype, parameter.device)
        held, num_bytes = open_ones.get(key, (None, 0))
        own_bytes = parameter.numel() * parameter.element_size()
        most = min(limit, FIRST_BYTES) if packed and held is packed[0] else limit
        if held is None or is_single or num_bytes + own_bytes > most:
            held, num_bytes = [], 0
            packed.append(held)
        held.append(parameter)
        open_ones[key] = (held, num_bytes + own_bytes)
    return [_Bucket(each, optimizer) for each in packed]


def _hook_after_gradient(parameter, call):
    """Call after the parameter's gradient was added up; what is returned keeps the hook alive."""
    if hasattr(parameter, "register_post_accumulate_grad_hook"):  # torch 2.1
        return parameter.register_post_accumulate_grad_hook(call)
    accumulate = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda *_: call(parameter))
    return accumulate


def _names(optimizer, named_parameters):
    """{parameter: name}, checked as Horovod checks it."""
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    if named_parameters is None:
        return {p: "allreduce.noname.{}".format(i) for i, p in enumerate(everything)}
    pairs = list(named_parameters)
    if any(not isinstance(pair, tuple) for pair in pairs):
        raise ValueError(
            "named_parameters should be a sequence of tuples (name, parameter), usually produced by "
            "model.named_parameters()."
        )
    names = [name for name, _ in pairs]
    twice = sorted(set(name for name in names if names.count(name) > 1))
    if twice:
        raise ValueError(
            "Parameter names in named_parameters must be unique. Found duplicates: {}".format(", ".join(twice))
        )
    known = {p: name for name, p in pairs}
    unnamed = [i for i, p in enumerate(everything) if p not in known]
    if unnamed:
        raise ValueError(
            "named_parameters was specified, but one or more model parameters were not named: the optimizer's "
            "parameters number {}.".format(", ".join(map(str, unnamed[:10])))
        )
    return known
