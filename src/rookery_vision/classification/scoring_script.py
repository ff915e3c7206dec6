"""What a web service runs: `init` once, `run` for every request. Copied into a trained model as `score.py`.

A request is a JSON list of rows like `_samples.json`: `image` is a PNG in base64, transformed the way of inference. The answer is
`{"result": [[probability of each category …, label], …]}`.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

_model: Any = None


def init() -> None:
    global _model
    from rookery_vision.classification.score import Model

    _model = Model(os.environ.get("AZUREML_MODEL_DIR") or os.path.dirname(os.path.abspath(__file__)))


def run(data: str) -> dict:
    if _model is None:
        init()
    rows = json.loads(data)
    pictures = [base64.b64decode(row["image"]) for row in rows]
    probabilities = _model.score_bytes(pictures)
    labels = [_model.categories[p.argmax()] for p in probabilities]
    return {"result": [[*p.tolist(), label] for p, label in zip(probabilities, labels)]}
