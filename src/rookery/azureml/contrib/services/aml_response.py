"""azureml.contrib.services.aml_response: `AMLResponse` is a Flask response as far as scoring scripts use one. Runs on Python 3.6,
standard library only."""

import json

__all__ = ["AMLResponse"]


class AMLResponse(object):
    """What a `@rawhttp` function answers.

    Args:
        message: text, bytes, or with `json_str` any value that becomes JSON.
        run_function_failed: the answer carries `x-ms-run-function-failed: True`.
    """

    def __init__(self, message, status_code, response_headers=None, json_str=False, run_function_failed=False):
        self.status_code = int(status_code)
        self.headers = dict(response_headers or {})
        self.run_function_failed = run_function_failed
        if json_str:
            self._data = json.dumps(message).encode("utf-8")
            self.headers.setdefault("Content-Type", "application/json")
        else:
            self._data = bytes(message) if isinstance(message, (bytes, bytearray)) else str(message).encode("utf-8")
            self.headers.setdefault("Content-Type", "text/html; charset=utf-8")

    def get_data(self, as_text=False):
        return self._data.decode("utf-8", "replace") if as_text else self._data

    def set_data(self, value):
        self._data = value.encode("utf-8") if isinstance(value, str) else bytes(value)

    data = property(get_data, set_data)

    @property
    def mimetype(self):
        return str(self.headers.get("Content-Type", "")).partition(";")[0]
