"""Algorithms that tell two classes apart."""

from __future__ import annotations

from rookery_tabular.modules.categories import CLASSIFICATION
from rookery_tabular.modules.learner_parameters import (
    BoostedTrees,
    Depth,
    Iterations,
    L2Weight,
    LeafRows,
    LearningRate,
    Leaves,
    Seed,
    Trees,
    UntrainedModel,
)
from rookery_vision.declare import module

__all__ = ["two_class_boosted_decision_tree", "two_class_decision_forest", "two_class_logistic_regression"]


@module("Two-Class Logistic Regression", category=CLASSIFICATION, help="A straight line between two classes.")
def two_class_logistic_regression(
    untrained_model: UntrainedModel,
    l2_weight: L2Weight = 1.0,
    iterations: Iterations = 1000,
    seed: Seed = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(
        untrained_model, "BinaryClassification", "linear", l2_weight=l2_weight, iterations=iterations, seed=seed
    )


@module("Two-Class Decision Forest", category=CLASSIFICATION, help="Many decision trees that vote between two classes.")
def two_class_decision_forest(
    untrained_model: UntrainedModel,
    trees: Trees = 100,
    depth: Depth = 32,
    leaf_rows: LeafRows = 1,
    seed: Seed = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(
        untrained_model, "BinaryClassification", "forest", trees=trees, depth=depth, leaf_rows=leaf_rows, seed=seed
    )


@module(
    "Two-Class Boosted Decision Tree",
    category=CLASSIFICATION,
    help="Decision trees for two classes, each of which corrects the ones before it.",
)
def two_class_boosted_decision_tree(
    untrained_model: UntrainedModel,
    leaves: Leaves = 20,
    leaf_rows: LeafRows = 10,
    learning_rate: LearningRate = 0.2,
    trees: BoostedTrees = 100,
    seed: Seed = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(
        untrained_model,
        "BinaryClassification",
        "boosted",
        leaves=leaves,
        leaf_rows=leaf_rows,
        learning_rate=learning_rate,
        trees=trees,
        seed=seed,
    )
