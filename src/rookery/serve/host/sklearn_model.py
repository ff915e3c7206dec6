"""A pickled scikit-learn model: `{"data": [[…]], "method": "predict"}` → `{"predict": […]}`.

Unpickling runs code of the model's; it happens here, in the model's own process, and nowhere else.
"""

import sys
import time
import traceback

from .answers import TEXT, Answer, BadInput
from .models import SKLEARN_FILES, find_file
from .tensors import encode, parse_json

__all__ = ["SklearnModel"]

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


class SklearnModel(object):
    batches = False
    wants_request = False

    def __init__(self, folder):
        self._path = find_file(folder, SKLEARN_FILES)
        self._model = None

    def init(self):
        try:
            import joblib

            self._model = joblib.load(self._path)
        except ImportError:
            import pickle

            with open(self._path, "rb") as f:
                self._model = pickle.load(f)
        if not callable(getattr(self._model, "predict", None)):
            raise ValueError("{} holds a {}, which cannot predict.".format(self._path, type(self._model).__name__))

    def swagger(self, name, version):
        from .schemas import swagger

        properties = {"data": {"type": "array"}, "method": {"type": "string", "enum": list(METHODS)}}
        given = {"type": "object", "properties": properties, "required": ["data"]}
        return swagger(None, name, version, {"input": given})

    def score(self, request):
        began = time.perf_counter()
        try:
            rows, method = self._decode(request[1])
            decoded = time.perf_counter()
            value = getattr(self._model, method)(rows)
            ran = time.perf_counter()
        except BadInput as error:
            return Answer(str(error).encode("utf-8"), 400, TEXT)
        except (ValueError, TypeError) as error:  # what scikit-learn raises for data of another form
            return Answer("The model does not take this data: {}".format(str(error)[:1000]).encode("utf-8"), 400, TEXT)
        except Exception as error:
            traceback.print_exc()
            sys.stderr.flush()
            return Answer(str(error).encode("utf-8", "replace"), 500, TEXT, failed=True)
        answer = encode({method: value})
        answer.timings = {
            "decode": (decoded - began) * 1000,
            "run": (ran - decoded) * 1000,
            "encode": (time.perf_counter() - ran) * 1000,
        }
        return answer

    def _decode(self, body):
        given = parse_json(body)
        if isinstance(given, list):
            given = {"data": given}
        if not isinstance(given, dict) or "data" not in given:
            raise BadInput('The body is not {"data": [[…]], "method": "predict"}.')
        method = given.get("method", "predict")
        known = [name for name in METHODS if callable(getattr(self._model, name, None))]
        if method not in known:
            raise BadInput("Method {!r} is none of {}.".format(str(method)[:80], ", ".join(known)))
        return self._to_rows(given["data"]), method

    def _to_rows(self, data):
        """Rows with names as a table, where the model was trained on one; else as an array."""
        names = getattr(self._model, "feature_names_in_", None)
        if isinstance(data, list) and data and isinstance(data[0], dict):
            try:
                import pandas
            except ImportError:
                raise BadInput("Rows with names need pandas in the model's environment. Send lists of values.")
            return pandas.DataFrame(data)
        if names is not None:
            try:
                import pandas

                return pandas.DataFrame(data, columns=list(names))
            except ImportError:
                pass
        import numpy

        return numpy.asarray(data)
