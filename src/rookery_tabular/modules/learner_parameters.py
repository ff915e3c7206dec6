"""The parameters that algorithms for classes and for numbers have in common."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import integer, number, output_port

__all__ = [
    "BoostedTrees",
    "Depth",
    "Iterations",
    "L2Weight",
    "LeafRows",
    "LearningRate",
    "Leaves",
    "Seed",
    "Trees",
    "UntrainedModel",
]

UntrainedModel = Annotated[str, output_port("Untrained model", "UntrainedModelDirectory", help="For Train Model.")]
Seed = Annotated[int, integer("Random number seed", low=0, high=2**32 - 1, help="The same gives the same model.")]
LeafRows = Annotated[int, integer("Minimum number of samples per leaf node", low=1, help="A rule needs so many rows.")]

# Linear models.
L2Weight = Annotated[
    float, number("L2 regularization weight", low=0, help="More keeps weights smaller; 0 leaves them alone.")
]
Iterations = Annotated[int, integer("Maximum number of iterations", above=0, help="When it stops at the latest.")]

# Decision forests.
Trees = Annotated[int, integer("Number of decision trees", low=1, high=10000, help="More are steadier and slower.")]
Depth = Annotated[
    int, integer("Maximum depth of the decision trees", low=1, high=1000, help="Deeper ones learn finer rules.")
]

# Boosted decision trees.
Leaves = Annotated[int, integer("Maximum number of leaves per tree", low=2, high=10000, help="The size of a tree.")]
LearningRate = Annotated[
    float, number("Learning rate", above=0, high=1, help="How much each tree corrects the ones before it.")
]
BoostedTrees = Annotated[int, integer("Number of trees constructed", low=1, high=10000, help="More fit closer.")]
