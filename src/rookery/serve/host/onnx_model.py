"""An ONNX file, scored by ONNX Runtime."""

from .batched import Batched
from .models import find_file
from .tensors import Slot, decode, encode

__all__ = ["OnnxModel"]

TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int16)": "int16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32",
    "tensor(uint64)": "uint64",
    "tensor(bool)": "bool",
    "tensor(string)": "object",
}


class OnnxModel(Batched):
    def __init__(self, folder, threads=None):
        self._path = find_file(folder, (".onnx",))
        self._threads = threads
        self._session = None
        self._slots = []
        self._outputs = []

    def init(self):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if self._threads:
            options.intra_op_num_threads = int(self._threads)
        known = onnxruntime.get_available_providers()
        providers = [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in known]
        self._session = onnxruntime.InferenceSession(self._path, options, providers=providers)
        for one in self._session.get_inputs():
            if one.type not in TYPES:
                raise ValueError("Input '{}' is {}: deploy this model with an entry script.".format(one.name, one.type))
            shape = [size if isinstance(size, int) else None for size in one.shape]
            self._slots.append(Slot(one.name, TYPES[one.type], shape))
        self._outputs = [one.name for one in self._session.get_outputs()]
        # Only where any number of rows goes can those of several requests be one input.
        self.batches = all(slot.shape and slot.shape[0] is None for slot in self._slots)

    def decode(self, head, body):
        return decode(head, body, self._slots)

    def run(self, asked):
        if len(asked) == 1:
            return [self._session.run(None, asked[0].arrays)]
        import numpy

        joined = {slot.name: numpy.concatenate([one.arrays[slot.name] for one in asked]) for slot in self._slots}
        outputs = self._session.run(None, joined)
        results, start = [], 0
        for one in asked:
            results.append([output[start : start + one.rows] for output in outputs])
            start += one.rows
        return results

    def encode(self, one, result):
        cut = [output[0] for output in result] if one.is_single and self.batches else result
        return encode({"outputs": dict(zip(self._outputs, cut))})

    def is_refusal(self, error):
        return type(error).__name__ == "InvalidArgument"
