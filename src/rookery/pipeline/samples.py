"""The gallery: pipelines that run at one click. They bring their own pictures and tables, so they need nothing that is not here."""

from __future__ import annotations

from typing import Any

from rookery.spec.pipeline import new_graph

__all__ = ["sample_pipelines"]


def sample_pipelines() -> list[dict[str, Any]]:
    """[{name, title, description, graph}]."""
    return [
        _sample(
            "image-classification-resnet",
            "Image Classification using ResNet",
            "Turkeys and chickens: 80 pictures are drawn, split, transformed; a small ResNet is trained, asked and evaluated. "
            "About half a minute on two cores.",
            birds("image-classification-resnet", "resnet", {"model_name": "resnet18", "pretrained": False}),
        ),
        _sample(
            "image-classification-densenet",
            "Image Classification using DenseNet",
            "The same nine modules with DenseNet, as the designer's sample of old had it. About two minutes on two cores.",
            birds("image-classification-densenet", "densenet", {"model_name": "densenet121", "pretrained": False}),
        ),
        _sample(
            "house-prices",
            "Regression: House Prices",
            "A table of houses is made up, cleaned and split; boosted decision trees learn what houses cost, are asked and evaluated. "
            "Seconds on two cores; needs `rookery[tabular]`.",
            houses("house-prices"),
        ),
    ]


def birds(name: str, network: str, options: dict[str, Any]) -> dict[str, Any]:
    """The bird pipeline with one of the networks; `rate` and `epochs` are parameters of the pipeline."""
    graph = new_graph(name)
    graph["description"] = "Pictures of birds in two categories: trained, scored, evaluated."
    graph["parameters"] = {"epochs": {"type": "integer", "default": 3}, "rate": {"type": "number", "default": 0.01}}
    nodes = graph["nodes"]
    nodes["pictures"] = _module("sample_pictures", "Pictures of birds", {"count": 40, "size": 72})
    nodes["convert"] = _module("convert_to_image_directory", None, {}, input_dataset="pictures.output_dataset")
    nodes["split"] = _module(
        "split_image_directory", None, {"fraction": 0.75}, input_image_directory="convert.output_image_directory"
    )
    nodes["transformation"] = _module("init_image_transformation", None, {"size": 72, "crop_size": 64})
    for which, mode in (("1", "For training"), ("2", "For inference")):
        nodes[f"apply{which}"] = _module(
            "apply_image_transformation",
            f"Apply ({mode.lower()})",
            {"mode": mode},
            input_image_transformation="transformation.output_image_transformation",
            input_image_directory=f"split.output_image_directory{which}",
        )
    nodes["network"] = _module(network, None, options)
    nodes["train"] = _module(
        "train_pytorch_model",
        None,
        {"epochs": {"pipeline_parameter": "epochs"}, "learning_rate": {"pipeline_parameter": "rate"}, "batch_size": 16},
        untrained_model="network.untrained_model",
        training_dataset="apply1.output_image_directory",
        validation_dataset="apply2.output_image_directory",
    )
    nodes["score"] = _module(
        "score_image_model", None, {}, trained_model="train.trained_model", dataset="apply2.output_image_directory"
    )
    nodes["evaluate"] = _module("evaluate_model", None, {}, scored_dataset="score.scored_dataset")
    graph["layout"] = dict(_PLACES)
    return graph


def houses(name: str) -> dict[str, Any]:
    """A table from end to end; `trees` is a parameter of the pipeline."""
    graph = new_graph(name)
    graph["description"] = "What a house costs, learned from a table: cleaned, split, trained, scored, evaluated."
    graph["parameters"] = {"trees": {"type": "integer", "default": 100}}
    nodes = graph["nodes"]
    nodes["houses"] = _module("sample_table", "Houses", {"rows": 500})
    nodes["clean"] = _module(
        "clean_missing_data",
        None,
        {"columns": "type:number", "mode": "Replace with median"},
        dataset="houses.output_dataset",
    )
    nodes["split"] = _module("split_data", None, {"fraction": 0.75}, dataset="clean.cleaned_dataset")
    nodes["algorithm"] = _module("boosted_decision_tree_regression", None, {"trees": {"pipeline_parameter": "trees"}})
    nodes["train"] = _module(
        "train_model",
        None,
        {"label_column": "price"},
        untrained_model="algorithm.untrained_model",
        dataset="split.results_dataset1",
    )
    nodes["score"] = _module(
        "score_model", None, {}, trained_model="train.trained_model", dataset="split.results_dataset2"
    )
    nodes["evaluate"] = _module("evaluate_model", None, {}, scored_dataset="score.scored_dataset")
    graph["layout"] = dict(_HOUSES)
    return graph


# Rows far enough apart for a module that says how it is, and has a title of two lines.
_HOUSES = {
    "houses": {"x": 320, "y": 0},
    "clean": {"x": 320, "y": 150},
    "split": {"x": 320, "y": 300},
    "algorithm": {"x": 16, "y": 300},
    "train": {"x": 168, "y": 450},
    "score": {"x": 320, "y": 600},
    "evaluate": {"x": 320, "y": 750},
}
_PLACES = {
    "pictures": {"x": 320, "y": 0},
    "convert": {"x": 320, "y": 150},
    "split": {"x": 320, "y": 300},
    "transformation": {"x": 16, "y": 300},
    "apply1": {"x": 168, "y": 450},
    "apply2": {"x": 472, "y": 450},
    "network": {"x": -136, "y": 450},
    "train": {"x": 168, "y": 600},
    "score": {"x": 320, "y": 750},
    "evaluate": {"x": 320, "y": 900},
}


def _module(module: str, title: Any, parameters: dict[str, Any], **inputs: str) -> dict[str, Any]:
    def source(text: str) -> dict[str, str]:
        node, _, port = text.partition(".")
        return {"node": node, "port": port}

    return {
        "kind": "module",
        "module": module,
        "title": title,
        "comment": "",
        "parameters": parameters,
        "inputs": {port: source(text) for port, text in inputs.items()},
    }


def _sample(name: str, title: str, description: str, graph: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "title": title, "description": description, "graph": graph}
