"""What the image modules made (*Train PyTorch Model*, *Export to ONNX*): pictures in, labels out, by `rookery_vision`'s own code."""

import os

from .answers import BadInput
from .batched import Batched
from .pictures import encode_labels, rows_of

__all__ = ["VisionModel", "find_folder"]


def find_folder(folder):
    """The folder below that an image module has written; None where there is none."""
    for here, folders, files in os.walk(folder):
        folders.sort()
        if "model_spec.yaml" in files or ("preprocessing.json" in files and "index_to_label.csv" in files):
            return here
    return None


class _Pictures(object):
    """Those of one request, prepared; all of one size."""

    def __init__(self, array_NHWC, form):
        self.array, self.form, self.rows = array_NHWC, form, len(array_NHWC)

    def signature(self):
        return ("pictures", self.array.shape[1:])


class VisionModel(Batched):
    """Args: tensors: makes the model that takes what is no picture, where the file can."""

    def __init__(self, folder, threads=None, tensors=None):
        self._folder, self._threads, self._make_tensors = folder, threads, tensors
        self._model, self._tensors = None, None

    def init(self):
        from rookery_vision.onnx import open_model

        if self._threads and not os.path.exists(os.path.join(self._folder, "model.onnx")):
            import torch

            torch.set_num_threads(int(self._threads))
        self._model = open_model(self._folder, int(self._threads or 0))

    def decode(self, head, body):
        found = rows_of(head, body)
        if found is None:
            return self._other(head, body)
        import numpy

        try:
            prepared = [self._model.prepare(data) for data in found[0]]
        except ValueError as error:
            raise BadInput(str(error))
        if len({one.shape for one in prepared}) > 1:
            raise BadInput("The pictures differ in size, and this model takes them as they are.")
        return _Pictures(numpy.stack(prepared), found[1])

    def _other(self, head, body):
        if self._make_tensors is None:
            raise BadInput('The body is no picture. Send JPEG or PNG bytes, or rows like {"image": "<base64>"}.')
        if self._tensors is None:
            self._tensors = self._make_tensors()
            self._tensors.init()
        return self._tensors.decode(head, body)

    def run(self, asked):
        if not isinstance(asked[0], _Pictures):
            return self._tensors.run(asked)
        import numpy

        joined = asked[0].array if len(asked) == 1 else numpy.concatenate([one.array for one in asked])
        probabilities = self._model.probabilities(joined)
        results, start = [], 0
        for one in asked:
            results.append(probabilities[start : start + one.rows])
            start += one.rows
        return results

    def encode(self, one, result):
        if not isinstance(one, _Pictures):
            return self._tensors.encode(one, result)
        return encode_labels(one.form, result, list(self._model.categories))
