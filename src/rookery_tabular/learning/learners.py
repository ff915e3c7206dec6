"""Algorithms by name, as data: an UntrainedModelDirectory says which one and with which values, and nothing of scikit-learn's is in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from rookery_vision.errors import InvalidLearnerError
from rookery_vision.formats.meta import VERSION, read_yaml, write_yaml
from rookery_vision.formats.model_directory import SPEC

__all__ = ["FRAMEWORK", "Learner", "build", "read_learner", "write_learner"]

FRAMEWORK = "scikit-learn"
TASKS = ("BinaryClassification", "MultiClassification", "Regression")
KINDS = ("linear", "forest", "boosted")
_NUMBERS = {"l2_weight", "iterations", "trees", "depth", "leaf_rows", "leaves", "learning_rate", "seed"}


@dataclass(frozen=True)
class Learner:
    task: str
    kind: str
    params: dict[str, Any]


def write_learner(folder: str, task: str, kind: str, **params: Any) -> None:
    """`model_spec.yaml` of an algorithm that has not seen anything yet."""
    flavor = {"framework": FRAMEWORK, "class": kind, "module": "rookery_tabular.learning", "init_params": params}
    write_yaml(os.path.join(folder, SPEC), {"version": VERSION, "flavor": flavor, "task_type": task})


def read_learner(folder: str) -> Learner:
    """
    Raises:
        InvalidLearnerError: it is no algorithm for tables.
    """
    data = read_yaml(os.path.join(folder, SPEC)) or {}
    flavor = data.get("flavor")
    if not isinstance(flavor, dict) or flavor.get("framework") != FRAMEWORK:
        raise InvalidLearnerError(
            f"{folder} is no algorithm for tables. Connect one of Machine Learning Algorithms; networks for pictures go to Train PyTorch Model."
        )
    task, kind, params = data.get("task_type"), flavor.get("class"), flavor.get("init_params")
    if task not in TASKS or kind not in KINDS or not isinstance(params, dict) or not set(params) <= _NUMBERS:
        raise InvalidLearnerError(f"{folder}: {SPEC} is damaged. Make the untrained model again.")
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in params.values()):
        raise InvalidLearnerError(f"{folder}: {SPEC} has a value that is no number. Make the untrained model again.")
    return Learner(task, kind, params)


def build(learner: Learner) -> Any:
    """The estimator of scikit-learn."""
    from sklearn import ensemble, linear_model

    p = learner.params
    is_regression = learner.task == "Regression"
    if learner.kind == "linear" and is_regression:
        return linear_model.Ridge(alpha=p["l2_weight"])
    if learner.kind == "linear":
        weight = p["l2_weight"]
        strength = 1 / weight if weight else float("inf")
        return linear_model.LogisticRegression(C=strength, max_iter=int(p["iterations"]), random_state=int(p["seed"]))
    if learner.kind == "forest":
        make = ensemble.RandomForestRegressor if is_regression else ensemble.RandomForestClassifier
        return make(
            n_estimators=int(p["trees"]),
            max_depth=int(p["depth"]),
            min_samples_leaf=int(p["leaf_rows"]),
            random_state=int(p["seed"]),
            n_jobs=-1,
        )
    make = ensemble.HistGradientBoostingRegressor if is_regression else ensemble.HistGradientBoostingClassifier
    return make(
        learning_rate=p["learning_rate"],
        max_iter=int(p["trees"]),
        max_leaf_nodes=int(p["leaves"]),
        min_samples_leaf=int(p["leaf_rows"]),
        early_stopping=False,
        random_state=int(p["seed"]),
    )
