"""The card of Train PyTorch Model."""

from __future__ import annotations

from typing import Annotated

from rookery_vision.declare import choice, input_port, integer, module, number, output_port

__all__ = ["train_pytorch_model"]


@module(
    "Train PyTorch Model",
    category="Model Training",
    distributed=True,
    help="Trains a DenseNet or ResNet on pictures, on one process or many, and keeps the model of the best epoch.",
)
def train_pytorch_model(
    untrained_model: Annotated[
        str, input_port("Untrained model", "UntrainedModelDirectory", help="From DenseNet or ResNet.")
    ],
    training_dataset: Annotated[
        str, input_port("Training dataset", "ImageDirectory", help="Pictures with categories.")
    ],
    validation_dataset: Annotated[
        str, input_port("Validation dataset", "ImageDirectory", help="The same categories; evaluated every epoch.")
    ],
    trained_model: Annotated[str, output_port("Trained model", "ModelDirectory", help="For Score Image Model.")],
    epochs: Annotated[int, integer("Epochs", "How often to go through all training pictures.", above=0)] = 5,
    batch_size: Annotated[int, integer("Batch size", "Pictures in one step, per process.", above=0)] = 16,
    warmup_step_number: Annotated[
        int, integer("Warmup step number", "Epochs in which the learning rate rises to its value.", low=0)
    ] = 0,
    learning_rate: Annotated[
        float,
        number(
            "Learning rate",
            "Multiplied by the number of processes; decays to nothing. Lower it if the loss is NaN.",
            above=0,
        ),
    ] = 0.001,
    random_seed: Annotated[int, integer("Random seed", "The same seed gives the same model.")] = 1,
    patience: Annotated[
        int, integer("Patience", "Stop when the validation loss has not fallen for so many epochs.", above=0)
    ] = 3,
    print_frequency: Annotated[int, integer("Print frequency", "A line in the log every so many steps.", above=0)] = 10,
    image_size: Annotated[
        int,
        integer(
            "Image size",
            "Resize and crop pictures to squares of this edge. 0: they are alike already, taken as they are.",
            low=0,
        ),
    ] = 0,
    augmentation: Annotated[
        str,
        choice(
            "Augmentation",
            "Crop and flip: another random part of every picture in each epoch (with an image size), every second one mirrored.",
            choices=("None", "Crop and flip"),
        ),
    ] = "None",
    label_smoothing: Annotated[
        float,
        number("Label smoothing", "How much of the certainty to take from labels; 0.1 is usual.", low=0, high=0.99),
    ] = 0.0,
    mixup: Annotated[
        float, number("Mixup", "Blend pairs of pictures; 0.2 is usual for many epochs. 0: do not.", low=0, high=10)
    ] = 0.0,
    precision: Annotated[
        str,
        choice(
            "Precision",
            "Auto: bfloat16 or float16 where this machine is faster with it, timed once and kept.",
            choices=("Auto", "float32", "bfloat16"),
        ),
    ] = "Auto",
    cache: Annotated[
        str,
        choice(
            "Cache", "Auto: decoded pictures are kept on disk for the next epoch and training.", choices=("Auto", "Off")
        ),
    ] = "Auto",
    weight_averaging: Annotated[
        float,
        number(
            "Weight averaging",
            "Keep an average of the weights that forgets so slowly; 0.99 is usual for hundreds of steps, 0.999 for thousands. 0: the "
            "weights themselves.",
            low=0,
            high=0.99999,
        ),
    ] = 0.0,
    compile: Annotated[
        str,
        choice(
            "Compile",
            "Auto: torch.compile where it is timed to pay for a training this long; it takes a minute or more.",
            choices=("Auto", "On", "Off"),
        ),
    ] = "Auto",
) -> None:
    from rookery_vision.classification.presets import Options
    from rookery_vision.classification.train import main

    options = Options(
        epochs=epochs,
        batch_size=batch_size,
        warmup_step_number=warmup_step_number,
        learning_rate=learning_rate,
        random_seed=random_seed,
        patience=patience,
        print_frequency=print_frequency,
        image_size=image_size,
        augmentation=augmentation,
        label_smoothing=label_smoothing,
        mixup=mixup,
        precision=precision,
        cache=cache,
        weight_averaging=weight_averaging,
        compile=compile,
    )
    main(untrained_model, training_dataset, validation_dataset, trained_model, options)
