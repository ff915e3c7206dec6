"""Arrays of numpy."""

import numpy as np

from inference_schema.parameter_types.abstract_parameter_type import AbstractParameterType

__all__ = ["NumpyParameterType"]


class NumpyParameterType(AbstractParameterType):
    """Args: enforce_column_type, enforce_shape: whether what is sent must have the sample's type and, but for the first axis, shape."""

    def __init__(self, input_sample, enforce_column_type=True, enforce_shape=True):
        if not isinstance(input_sample, np.ndarray):
            raise Exception("Invalid sample input provided, must provide a sample Numpy array.")
        AbstractParameterType.__init__(self, input_sample)
        self.enforce_column_type, self.enforce_shape = enforce_column_type, enforce_shape

    def deserialize_input(self, input_data):
        if isinstance(input_data, np.ndarray):
            return input_data
        if not isinstance(input_data, list):
            raise ValueError("an array must be a list, not {}.".format(type(input_data).__name__))
        sample = self.sample_input
        array = np.array(input_data, dtype=sample.dtype if self.enforce_column_type else None)
        if self.enforce_shape and array.shape[1:] != sample.shape[1:]:
            raise ValueError(
                "an array of shape {} was given; it must be like {} but for its first axis.".format(
                    array.shape, sample.shape
                )
            )
        return array

    def input_to_swagger(self):
        return _nested(self.sample_input.tolist(), self.sample_input.dtype, self.sample_input.ndim)


def _nested(example, dtype, ndim):
    if ndim == 0:
        kind = np.dtype(dtype).kind
        if kind in "iu":
            return {"type": "integer", "format": "int64"}
        if kind == "f":
            return {"type": "number", "format": "double"}
        return {"type": "boolean"} if kind == "b" else {"type": "string"}
    schema = {"type": "array", "items": _nested(None, dtype, ndim - 1)}
    if example is not None:
        schema["example"] = example
    return schema
