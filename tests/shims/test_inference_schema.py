"""The `inference_schema` that scoring scripts are offered: arrays, and what it says of itself."""

from __future__ import annotations

import importlib
import os
import sys

import numpy
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def shim(monkeypatch):
    monkeypatch.syspath_prepend(os.path.join(ROOT, "shims"))
    for name in [n for n in sys.modules if n.partition(".")[0] == "inference_schema"]:
        monkeypatch.delitem(sys.modules, name)
    yield importlib.import_module
    for name in [n for n in sys.modules if n.partition(".")[0] == "inference_schema"]:
        del sys.modules[name]


class TestShim:
    def test_arrays(self, shim):
        types = shim("inference_schema.parameter_types.numpy_parameter_type")
        decorators, util = shim("inference_schema.schema_decorators"), shim("inference_schema.schema_util")
        sample = types.NumpyParameterType(numpy.array([[1.0, 2.0]]))

        @decorators.input_schema("data", sample)
        @decorators.output_schema(types.NumpyParameterType(numpy.array([1])))
        def run(data):
            return data

        assert util.is_schema_decorated(run)
        assert util.get_input_schema(run)["properties"]["data"]["items"]["items"] == {
            "type": "number",
            "format": "double",
        }
        assert util.get_output_schema(run)["items"] == {"type": "integer", "format": "int64"}
        made = run(data=[[1, 2], [3, 4]])
        assert (made.dtype, made.shape) == (numpy.float64, (2, 2))
        assert run([[5, 6]]).tolist() == [[5.0, 6.0]]
        for wrong in ([[1, 2, 3]], "text", [["a", "b"]]):
            with pytest.raises(ValueError, match=r".+"):
                run(data=wrong)

    def test_a_function_that_is_not_decorated(self, shim):
        assert not shim("inference_schema.schema_util").is_schema_decorated(len)
