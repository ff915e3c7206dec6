"""Scoring prepared pictures: ONNX Runtime, as `rookery_vision.onnx.open_model` uses it, beside PyTorch as it is.

    python vision_onnx.py VALIDATION

VALIDATION is an image directory. A ResNet-18 of 224 × 224, the two in turns. Prints one line of JSON: pictures a second by batch.
"""

import contextlib
import json
import os
import sys
import tempfile
import time

import numpy

from rookery_vision import export_to_onnx
from rookery_vision.classification.score import Model
from rookery_vision.formats.model_directory import (
    ModelSpec,
    Preprocessing,
    write_labels,
    write_model_spec,
    write_state,
)
from rookery_vision.networks.build import build
from rookery_vision.onnx import open_model

EDGE, ROUNDS, ROUND_S = 224, 5, 0.6
BATCHES = (1, 8)


def main():
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        trained, exported = os.path.join(folder, "trained"), os.path.join(folder, "onnx")
        _write_model(trained)
        export_to_onnx(trained, sys.argv[1], exported, tolerance=0.01)
        eager, runtime = Model(trained), open_model(exported)
        found = {}
        for size in BATCHES:
            batch = numpy.random.default_rng(0).integers(0, 255, (size, EDGE, EDGE, 3), dtype=numpy.uint8)
            speeds = [(_speed(eager, batch), _speed(runtime, batch)) for _ in range(ROUNDS)]
            found[f"eager_{size}"], found[f"onnx_{size}"] = (max(one) for one in zip(*speeds))
    print(json.dumps(found))


def _speed(model, batch):
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < ROUND_S:
        model.probabilities(batch)
        done += len(batch)
    return done / (time.perf_counter() - began)


def _write_model(folder):
    os.makedirs(folder)
    spec = ModelSpec(
        "ResNet",
        {"model_name": "resnet18", "pretrained": False},
        Preprocessing(resize=256, crop=EDGE),
        num_classes=2,
        image_size=(EDGE, EDGE),
    )
    write_state(folder, build(spec, 2).state_dict())
    write_labels(folder, ["chickens", "turkeys"])
    for name in ("_schema.json", "_samples.json"):
        with open(os.path.join(folder, name), "w") as f:
            f.write("[]")
    write_model_spec(folder, spec)


if __name__ == "__main__":
    main()
