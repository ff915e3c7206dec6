"""ModelDirectory of a model for tables: `model_spec.yaml`, `features.json`, `model.joblib`.

The last is scikit-learn's own, a pickle: it is loaded by jobs and services only, as other code of the user's is, and never by the keeper.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from typing import Any, Optional

from rookery_tabular.learning.learners import FRAMEWORK, Learner
from rookery_vision.errors import InvalidModelDirectoryError, UnableToDeserializeModelError, UntrainedModelError
from rookery_vision.formats.meta import VERSION, read_yaml, write_yaml
from rookery_vision.formats.model_directory import LABELS, SPEC, write_labels

__all__ = ["Trained", "read_model", "write_model"]

MODEL, FEATURES, SAMPLES = "model.joblib", "features.json", "_samples.json"


@dataclass(frozen=True)
class Trained:
    learner: Learner
    estimator: Any
    features: list[dict[str, Any]]
    label: str
    classes: Optional[list[Any]]  # in the order of probabilities; None for a regression

    @property
    def is_scaled(self) -> bool:
        return self.learner.kind == "linear"


def write_model(folder: str, model: Trained, rows: int, samples: list[dict[str, Any]]) -> None:
    """`model_spec.yaml` comes last: a folder without it is not whole."""
    import joblib
    import sklearn

    from rookery_tabular.learning import scoring_script

    joblib.dump(model.estimator, os.path.join(folder, MODEL))
    for name, data in (
        (FEATURES, {"label": model.label, "classes": model.classes, "features": model.features}),
        (SAMPLES, samples),
    ):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(data, f, ensure_ascii=False, allow_nan=False)
    if model.classes is not None:
        write_labels(folder, [str(c) for c in model.classes])
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    packages = [f"scikit-learn=={sklearn.__version__}", "rookery[tabular]"]
    environment = {"name": "project_environment", "dependencies": [f"python={python}", "pip", {"pip": packages}]}
    for name in ("conda.yaml", "conda_env.yaml"):
        write_yaml(os.path.join(folder, name), environment)
    shutil.copyfile(scoring_script.__file__, os.path.join(folder, "score.py"))
    flavor = {
        "framework": FRAMEWORK,
        "version": sklearn.__version__,
        "class": model.learner.kind,
        "module": "rookery_tabular.learning",
        "init_params": model.learner.params,
    }
    spec = {
        "version": VERSION,
        "flavor": flavor,
        "task_type": model.learner.task,
        "label": model.label,
        "training": {"rows": rows, "features": len(model.features)},
    }
    write_yaml(os.path.join(folder, SPEC), spec)


def read_model(folder: str) -> Trained:
    """
    Raises:
        InvalidModelDirectoryError, UntrainedModelError, UnableToDeserializeModelError: it is no trained model for tables.
    """
    spec = read_yaml(os.path.join(folder, SPEC)) or {}
    flavor = spec.get("flavor")
    if not isinstance(flavor, dict) or flavor.get("framework") != FRAMEWORK:
        raise InvalidModelDirectoryError(
            f"{folder} is no model for tables. Connect the output of Train Model; models for pictures go to Score Image Model."
        )
    if not os.path.exists(os.path.join(folder, MODEL)):
        raise UntrainedModelError(
            f"{folder} holds an algorithm that is not trained yet. Connect the output of Train Model."
        )
    try:
        with open(os.path.join(folder, FEATURES), encoding="utf-8") as f:
            known = json.load(f)
        learner = Learner(str(spec["task_type"]), str(flavor["class"]), dict(flavor["init_params"]))
        features, label, classes = list(known["features"]), str(known["label"]), known["classes"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidModelDirectoryError(f"{folder} is damaged: {error!r}. Train the model again.") from error
    try:
        import joblib

        estimator = joblib.load(os.path.join(folder, MODEL))
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise UnableToDeserializeModelError(
            f"{folder}: {MODEL} cannot be read: {error}. It was written by scikit-learn {flavor.get('version')}; {LABELS} and {FEATURES} "
            "are readable without it. Train the model again, or install that version."
        ) from error
    return Trained(learner, estimator, features, label, classes)
