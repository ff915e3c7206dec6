"""The modules for tables. `rookery_vision.catalog` is the registry over all packages; it asks here. Reading it imports nothing heavy."""

from __future__ import annotations

import importlib

from rookery_vision.declare import Module

__all__ = ["MODULES", "load"]

# In the order of a pipeline: the module, and the file in modules/ that declares it.
MODULES = {
    "sample_table": "sample_table",
    "import_data": "importing",
    "export_data": "exporting",
    "select_columns": "select_columns",
    "join_data": "join_data",
    "clean_missing_data": "clean_missing_data",
    "normalize_data": "normalize_data",
    "apply_transformation": "apply_transformation",
    "split_data": "split_data",
    "execute_python_script": "execute_python_script",
    "two_class_logistic_regression": "two_class",
    "two_class_decision_forest": "two_class",
    "two_class_boosted_decision_tree": "two_class",
    "multiclass_logistic_regression": "multiclass",
    "multiclass_decision_forest": "multiclass",
    "multiclass_boosted_decision_tree": "multiclass",
    "linear_regression": "regression",
    "decision_forest_regression": "regression",
    "boosted_decision_tree_regression": "regression",
    "train_model": "train_model",
    "score_model": "score_model",
}


def load(name: str) -> Module:
    """The card of one of them."""
    found = getattr(importlib.import_module("rookery_tabular.modules." + MODULES[name]), name)
    assert isinstance(found, Module)
    return found
