"""One file of TorchScript or torch.export: takes `{"data": …}` for its only input, float32, the first axis that of rows."""

import os

from .batched import Batched
from .tensors import Slot, decode, encode

__all__ = ["TorchFile"]


class TorchFile(Batched):
    def __init__(self, path, threads):
        self._path, self._threads, self._network, self._torch = path, threads, None, None
        self._slots = [Slot("data", "float32", None)]

    def init(self):
        import torch

        self._torch = torch
        if self._threads:
            torch.set_num_threads(int(self._threads))
        if self._path.endswith(".pt2"):
            self._network = torch.export.load(self._path).module()
            return
        try:
            self._network = torch.jit.load(self._path, map_location="cpu")
        except RuntimeError as error:
            raise ValueError(
                "{} is no TorchScript ({}). Save it with torch.jit.save, or deploy it with an entry script.".format(
                    os.path.basename(self._path), str(error).splitlines()[0]
                )
            )
        self._network.eval()

    def decode(self, head, body):
        return decode(head, body, self._slots)

    def run(self, asked):
        import numpy

        joined = numpy.concatenate([one.arrays["data"] for one in asked])
        with self._torch.no_grad():
            output = self._network(self._torch.from_numpy(joined))
        output = output[0] if isinstance(output, (tuple, list)) else output
        output = output.detach().cpu().numpy()
        if output.shape[:1] != joined.shape[:1] and len(asked) > 1:
            raise ValueError("the answer does not have a row for each row given")
        results, start = [], 0
        for one in asked:
            results.append(output if len(asked) == 1 else output[start : start + one.rows])
            start += one.rows
        return results

    def encode(self, one, result):
        return encode({"outputs": {"output": result}})

    def is_refusal(self, error):
        return isinstance(error, (RuntimeError, ValueError))  # shapes that do not fit
