"""What a web service runs: `init` once, `run` for every request. Copied into a trained or exported model as `score.py`.

A request is either the bytes of one JPEG or PNG, or a JSON list of rows like `_samples.json`, where `image` is a picture in base64. Pictures
are prepared as for training; one that has the model's own size is taken as it is. The answers:

    bytes  {"label": label, "probabilities": {category: probability, …}}
    JSON   {"result": [[probability of each category …, label], …]}, in the order of `index_to_label.csv`
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Union

_model: Any = None


def init() -> None:
    global _model
    from rookery_vision.onnx import open_model

    _model = open_model(os.environ.get("AZUREML_MODEL_DIR") or os.path.dirname(os.path.abspath(__file__)))


def run(data: Union[str, bytes]) -> dict[str, Any]:
    if _model is None:
        init()
    if isinstance(data, (bytes, bytearray, memoryview)) and bytes(data[:1]) not in (b"[", b"{", b" ", b"\n"):
        return dict(_model.score([bytes(data)])[0])
    rows = json.loads(data if isinstance(data, str) else bytes(data))
    if isinstance(rows, dict):
        rows = rows.get("data", [rows])
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("image"), str) for row in rows
    ):
        raise ValueError(
            'The request is not a list of rows {"image": a picture in base64}. See _samples.json, or send the bytes of a picture.'
        )
    answers = _model.score([base64.b64decode(row["image"]) for row in rows])
    return {"result": [[*answer["probabilities"].values(), answer["label"]] for answer in answers]}
