"""A sampler that knows which samples of the epoch were used, so that an interrupted epoch is not begun again."""

import math
import random

import torch.utils.data

from horovod.torch.process import is_initialized, rank, size

__all__ = ["ElasticSampler"]


class ElasticSampler(torch.utils.data.Sampler):
    """Splits what is left of the epoch over the ranks. Call `record_batch` after each batch and `set_epoch` after each
    epoch."""

    def __init__(self, dataset, shuffle=True, seed=0):
        self.dataset, self.shuffle, self.seed = dataset, shuffle, seed
        self.epoch = 0
        self.processed_indices = set()
        self.reset()

    def set_epoch(self, epoch):
        """At the end of an epoch, not at its beginning: nothing of the new one was used."""
        self.epoch = epoch
        self.processed_indices = set()
        self.reset()

    def record_batch(self, batch_idx, batch_size):
        self.record_indices(self.get_indices(batch_idx, batch_size))

    def record_indices(self, indices):
        self.processed_indices.update(indices)

    def get_indices(self, batch_idx, batch_size):
        """The samples of this rank's batch."""
        begin = batch_idx * batch_size
        return self.indices[begin : min(begin + batch_size, len(self.indices))]

    def state_dict(self):
        return {"epoch": self.epoch, "processed_indices": set(self.processed_indices)}

    def load_state_dict(self, state_dict):
        self.epoch = state_dict["epoch"]
        self.processed_indices = set(state_dict["processed_indices"])
        self.reset()

    def reset(self):
        """Split what is left anew."""
        self.num_replicas, self.rank = (size(), rank()) if is_initialized() else (1, 0)
        left = [i for i in range(len(self.dataset)) if i not in self.processed_indices]
        if self.shuffle:
            random.Random("{}-{}".format(self.seed, self.epoch)).shuffle(left)
        self.remaining_indices = left
        self.num_samples = int(math.ceil(len(left) / float(self.num_replicas)))
        self.total_size = self.num_samples * self.num_replicas
        while left and len(left) < self.total_size:  # every rank gets as many
            left = left + left[: self.total_size - len(left)]
        self.indices = left[self.rank : self.total_size : self.num_replicas]

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return self.num_samples
