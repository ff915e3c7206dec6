"""What a web service runs: `init` once, `run` for every request. Copied into a trained model as `score.py`.

A request is a JSON list of rows like `_samples.json`, or `{"data": rows}`, or `{"Inputs": {"WebServiceInput0": rows}}`; the answer is
`{"result": [row with "Scored Labels" and "Scored Probabilities…", …]}`.
"""

from __future__ import annotations

import json
import os
from typing import Any, Union

_model: Any = None


def init() -> None:
    global _model
    from rookery_tabular.learning.model_files import read_model

    _model = read_model(_folder(os.environ.get("AZUREML_MODEL_DIR") or os.path.dirname(os.path.abspath(__file__))))


def run(data: Union[str, bytes]) -> dict[str, Any]:
    if _model is None:
        init()
    import pandas

    from rookery_tabular.frames import Frame
    from rookery_tabular.learning.scoring import score_frame

    rows = json.loads(data)
    if isinstance(rows, dict) and isinstance(rows.get("Inputs"), dict):
        rows = next(iter(rows["Inputs"].values()), [])
    if isinstance(rows, dict):
        rows = rows.get("data", [rows])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("The request is not a list of rows {column: value}. See _samples.json.")
    scored = score_frame(_model, Frame(pandas.DataFrame(rows)))
    names = [name for name, role in scored.roles.items() if role.startswith("scored_")]
    return {"result": json.loads(scored.data[names].to_json(orient="records"))}


def _folder(where: str) -> str:
    for folder, folders, files in os.walk(where):
        folders.sort()
        if "model_spec.yaml" in files:
            return folder
    return where
