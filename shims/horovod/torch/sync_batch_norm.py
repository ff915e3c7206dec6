"""SyncBatchNorm: batch normalization with mean and variance over the batches of all ranks, on CPUs too."""

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from horovod.torch import operations
from horovod.torch.process import size

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """For input of any number of dimensions from two on; in `eval` it is ordinary batch normalization."""

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError("expected at least 2D input (got {}D input)".format(input.dim()))

    def forward(self, input):
        self._check_input_dim(input)
        uses_batch = self.training or self.running_mean is None
        if not uses_batch or size() == 1:
            return super(SyncBatchNorm, self).forward(input)
        output, mean, variance, count = _Normalize.apply(input, self.weight, self.bias, self.eps)
        if self.training and self.track_running_stats and self.running_mean is not None:
            self._remember(mean, variance, count)
        return output

    def _remember(self, mean, variance, count):
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            factor = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
            unbiased = variance * count / (count - 1).clamp(min=1)
            self.running_mean.mul_(1 - factor).add_(mean.to(self.running_mean.dtype) * factor)
            self.running_var.mul_(1 - factor).add_(unbiased.to(self.running_var.dtype) * factor)


class _Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias, eps):
        wide = input.to(torch.float64 if input.dtype == torch.float64 else torch.float32)
        others = [d for d in range(input.dim()) if d != 1]
        channels = input.shape[1]
        own_count = wide.numel() // max(channels, 1)
        own_mean = wide.mean(others) if own_count else wide.new_zeros(channels)
        squares = (wide - own_mean.view(_across(input))).pow(2).sum(others)
        row = torch.cat([own_mean, squares, own_mean.new_tensor([float(own_count)])])
        rows = operations.start_allgather(row.view(1, -1)).synchronize()
        counts = rows[:, -1:]
        means, squares = rows[:, :channels], rows[:, channels : 2 * channels]
        count = counts.sum()
        # From means and squared distances, not from sums of squares: those lose all digits where the mean is large.
        mean = (means * counts).sum(0) / count
        variance = (squares + counts * (means - mean).pow(2)).sum(0) / count
        scale = (variance + eps).rsqrt()
        ctx.save_for_backward(input, weight, mean, scale, count)
        output = (wide - mean.view(_across(input))) * scale.view(_across(input))
        if weight is not None:
            output = output * weight.view(_across(input)) + bias.view(_across(input))
        ctx.mark_non_differentiable(mean, variance, count)
        return output.to(input.dtype), mean, variance, count

    @staticmethod
    def backward(ctx, gradient, *_):
        input, weight, mean, scale, count = ctx.saved_tensors
        across = _across(input)
        others = [d for d in range(input.dim()) if d != 1]
        wide = gradient.to(mean.dtype)
        normal = (input.to(mean.dtype) - mean.view(across)) * scale.view(across)
        sum_gradient, sum_product = wide.sum(others), (wide * normal).sum(others)
        both = torch.cat([sum_gradient, sum_product])
        both = operations.start_allreduce([both], operations.Sum).synchronize()[0] / count
        all_gradient, all_product = both[: input.shape[1]], both[input.shape[1] :]
        factor = scale if weight is None else scale * weight.to(scale.dtype)
        to_input = (wide - all_gradient.view(across) - normal * all_product.view(across)) * factor.view(across)
        to_weight = None if weight is None else sum_product.to(weight.dtype)
        to_bias = None if weight is None else sum_gradient.to(weight.dtype)
        return to_input.to(input.dtype), to_weight, to_bias, None


def _across(input):
    return (1, input.shape[1]) + (1,) * (input.dim() - 2)
