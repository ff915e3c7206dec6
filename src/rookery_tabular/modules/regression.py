"""Algorithms that find out a number."""

from __future__ import annotations

from rookery_tabular.modules.categories import REGRESSION
from rookery_tabular.modules.learner_parameters import (
    BoostedTrees,
    Depth,
    L2Weight,
    LeafRows,
    LearningRate,
    Leaves,
    Seed,
    Trees,
    UntrainedModel,
)
from rookery_vision.declare import module

__all__ = ["boosted_decision_tree_regression", "decision_forest_regression", "linear_regression"]


@module("Linear Regression", category=REGRESSION, help="A number as a weighted sum of the others.")
def linear_regression(
    untrained_model: UntrainedModel,
    l2_weight: L2Weight = 0.001,
    seed: Seed = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(untrained_model, "Regression", "linear", l2_weight=l2_weight, seed=seed)


@module("Decision Forest Regression", category=REGRESSION, help="A number as the mean of many decision trees.")
def decision_forest_regression(
    untrained_model: UntrainedModel,
    trees: Trees = 100,
    depth: Depth = 32,
    leaf_rows: LeafRows = 1,
    seed: Seed = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(untrained_model, "Regression", "forest", trees=trees, depth=depth, leaf_rows=leaf_rows, seed=seed)


@module(
    "Boosted Decision Tree Regression",
    category=REGRESSION,
    help="A number by decision trees, each of which corrects the ones before it.",
)
def boosted_decision_tree_regression(
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
        "Regression",
        "boosted",
        leaves=leaves,
        leaf_rows=leaf_rows,
        learning_rate=learning_rate,
        trees=trees,
        seed=seed,
    )
