"""What an endpoint of an inference pipeline runs: `init` once, `run` for every request. Copied beside `graph.json` as `score.py`.

A request is a JSON list of rows, `{"data": rows}` or `{"Inputs": {"WebServiceInput1": rows, …}}`, which several inputs want; a row of
pictures has `image`, a PNG or JPEG in base64. The answer is `{"columns": [name, …], "result": [[value, …], …]}`. The bytes of one
picture are answered `{"label", "probability", "probabilities"}`. Several outputs are answered `{"Results": {name: one of these}}`.
"""

from __future__ import annotations

import os
from typing import Any

from azureml.contrib.services.aml_request import rawhttp
from azureml.contrib.services.aml_response import AMLResponse

_service: Any = None


def init() -> None:
    global _service
    from rookery_vision.serving import GraphService

    _service = GraphService(os.path.dirname(os.path.abspath(__file__)))


@rawhttp  # type: ignore[untyped-decorator,unused-ignore]
def run(request: Any) -> Any:
    from rookery_vision.serving import BadRequest

    if request.method != "POST":
        return AMLResponse("Send rows or a picture with POST.", 405)
    try:
        return AMLResponse(_service.answer(request.get_data(False)), 200, json_str=True)
    except BadRequest as error:
        return AMLResponse(str(error), 400, {"Content-Type": "text/plain; charset=utf-8"})
