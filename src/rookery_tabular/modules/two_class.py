"""Algorithms that tell two classes apart."""

from __future__ import annotations

from typing import Annotated

from rookery_tabular.modules.categories import CLASSIFICATION
from rookery_vision.declare import integer, module, number, output_port

__all__ = ["two_class_boosted_decision_tree", "two_class_decision_forest", "two_class_logistic_regression"]


@module("Two-Class Logistic Regression", category=CLASSIFICATION, help="A straight line between two classes.")
def two_class_logistic_regression(
    untrained_model: Annotated[str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train Model.")],
    l2_weight: Annotated[
        float, number("L2 regularization weight", low=0, help="More keeps weights smaller; 0 leaves them alone.")
    ] = 1.0,
    iterations: Annotated[
        int, integer("Maximum number of iterations", above=0, help="When it stops at the latest.")
    ] = 1000,
    seed: Annotated[
        int, integer("Random number seed", low=0, high=2**32 - 1, help="The same gives the same model.")
    ] = 0,
) -> None:
    from rookery_tabular.learning.learners import write_learner

    write_learner(
        untrained_model, "BinaryClassification", "linear", l2_weight=l2_weight, iterations=iterations, seed=seed
    )


@module("Two-Class Decision Forest", category=CLASSIFICATION, help="Many decision trees that vote between two classes.")
def two_class_decision_forest(
    untrained_model: Annotated[str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train Model.")],
    trees: Annotated[
        int, integer("Number of decision trees", low=1, high=10000, help="More are steadier and slower.")
    ] = 100,
    depth: Annotated[
        int, integer("Maximum depth of the decision trees", low=1, high=1000, help="Deeper ones learn finer rules.")
    ] = (32),
    leaf_rows: Annotated[
        int, integer("Minimum number of samples per leaf node", low=1, help="A rule needs so many rows.")
    ] = 1,
    seed: Annotated[
        int, integer("Random number seed", low=0, high=2**32 - 1, help="The same gives the same model.")
    ] = 0,
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
    untrained_model: Annotated[str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train Model.")],
    leaves: Annotated[
        int, integer("Maximum number of leaves per tree", low=2, high=10000, help="The size of a tree.")
    ] = 20,
    leaf_rows: Annotated[
        int, integer("Minimum number of samples per leaf node", low=1, help="A rule needs so many rows.")
    ] = 10,
    learning_rate: Annotated[
        float, number("Learning rate", above=0, high=1, help="How much each tree corrects the ones before it.")
    ] = 0.2,
    trees: Annotated[int, integer("Number of trees constructed", low=1, high=10000, help="More fit closer.")] = 100,
    seed: Annotated[
        int, integer("Random number seed", low=0, high=2**32 - 1, help="The same gives the same model.")
    ] = 0,
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
