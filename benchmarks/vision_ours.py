"""Train PyTorch Model on the same pictures, timed from the check of its data to the written model.

    python vision_ours.py TRAIN VALIDATION TEST EPOCHS BATCH EDGE RATE [loader]

The three are image directories here. Prints one line of JSON: the speed, and what the model says of the pictures in TEST.
"""

import contextlib
import json
import os
import sys
import tempfile
import time

from rookery_vision.classification.pictures import PictureSet
from rookery_vision.classification.presets import RESIZE_PER_CROP, Options
from rookery_vision.classification.ranks import global_batches
from rookery_vision.classification.score import Model
from rookery_vision.classification.train import main as train_model
from rookery_vision.formats.image_directory import ImageDirectory
from rookery_vision.formats.model_directory import ModelSpec, Preprocessing, read_model_spec, write_model_spec


def main():
    (train, validation, test), (epochs, batch, edge) = sys.argv[1:4], map(int, sys.argv[4:7])
    options = Options(
        epochs=epochs,
        batch_size=batch,
        learning_rate=float(sys.argv[7]),
        image_size=edge,
        augmentation="Crop and flip",
        patience=epochs,
        random_seed=int(os.environ.get("VISION_SEED") or 1),
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROOKERY_VISION_CACHE"] = os.path.join(folder, "decoded")
        if sys.argv[8:] == ["loader"]:
            print(json.dumps(loader_alone(train, options)))
            return
        write_model_spec(folder, ModelSpec("ResNet", {"model_name": "resnet18", "pretrained": False}))
        output = os.path.join(folder, "model")
        began = time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):
            train_model(folder, train, validation, output, options)
        spent = time.perf_counter() - began
        seen = options.epochs * len(ImageDirectory.read(train).rows)
        told = read_model_spec(output, is_trained=True).training
        top1 = tested(output, test)
        print(json.dumps({"images_per_s": seen / spent, "top1": top1, "precision": told["precision_used"]}))


def tested(folder, test):
    """The share of pictures that the model tells right."""
    model, directory = Model(folder), ImageDirectory.read(test)
    said = model.score(directory).argmax(1)
    return sum(model.categories[i] == row.category for i, row in zip(said, directory.rows)) / len(directory.rows)


def loader_alone(train, options):
    """The speed of the first epoch, which decodes, and of the last one, without a network."""
    directory, edge = ImageDirectory.read(train), options.image_size
    prep = Preprocessing(resize=round(edge * RESIZE_PER_CROP), crop=edge)
    began = time.perf_counter()
    pictures = PictureSet(directory, prep, augmentation=options.augmentation)
    speeds = []
    for epoch in range(options.epochs):
        groups = global_batches(len(pictures), options.batch_size, 1, 1, epoch)
        seen = sum(len(batch.labels) for batch in pictures.batches(groups, epoch))
        speeds.append(seen / (time.perf_counter() - began))
        began = time.perf_counter()
    pictures.close()
    return {"first_images_per_s": speeds[0], "images_per_s": speeds[-1]}


if __name__ == "__main__":
    main()
