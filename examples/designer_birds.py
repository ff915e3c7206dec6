"""The designer's image pipeline on the bird pictures, module by module, every one a run of its own.

    python examples/designer_birds.py [--pictures 60] [--epochs 6] [--size 64]

Convert to Image Directory → Split Image Directory → Init and Apply Image Transformation → ResNet → Train PyTorch Model (on one process and
on two) → Score Image Model → Evaluate Model → Export to ONNX. Prints the scores. Needs `rookery[vision]`; the pictures are drawn on the spot.
"""

import argparse
import os
import sys
import tempfile

from rookery_vision.catalog import find

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "birds"))
from draw_birds import make_birds

SCRIPT = "import sys\nfrom rookery_vision.__main__ import main\nsys.exit(main())\n"


def main(ws=None, pictures=60, epochs=6, size=64, processes=(1, 2), work=None):
    """Returns {number of processes: the run of Evaluate Model}."""
    from rookery.sdk import Workspace

    ws = ws or Workspace.from_config()
    work = work or tempfile.mkdtemp(prefix="designer-birds-")
    make_birds(os.path.join(work, "birds"), train=pictures, val=0, size=size * 2)
    modules = Modules(ws, work)

    modules.run("convert_to_image_directory", "birds/train", "all")
    modules.run("split_image_directory", "all", "train", "test", fraction=0.75)
    modules.run("init_image_transformation", "how", size=size + 8, crop_size=size)
    modules.run("apply_image_transformation", "how", "train", "train-ready", mode="For training")
    modules.run("apply_image_transformation", "how", "test", "test-ready", mode="For inference")
    modules.run("resnet", "network", model_name="resnet18", pretrained=False)
    results = {}
    for count in processes:
        trained, scored = f"trained-{count}", f"scored-{count}"
        options = {"epochs": epochs, "batch_size": 16 // count, "learning_rate": 0.01 / count, "patience": epochs}
        folders = ("network", "train-ready", "test-ready", trained)
        train = modules.run("train_pytorch_model", *folders, processes=count, **options)
        modules.run("score_image_model", trained, "test-ready", scored)
        results[count] = modules.run("evaluate_model", scored, None, f"evaluated-{count}")
        best = train.get_metrics()["Best top-1 validation accuracy"]
        accuracy = results[count].get_metrics()["Overall_Accuracy"]
        print(f"{count} process(es): best epoch's top-1 {best:.3f}, Overall_Accuracy {accuracy:.3f}", flush=True)
    exported = modules.run("export_to_onnx", f"trained-{processes[-1]}", "test-ready", "onnx", register_as="birds-onnx")
    print("ONNX differs by at most", exported.get_metrics()["ONNX largest absolute difference"])
    print("registered:", ws.models["birds-onnx"].id)
    return results


class Modules:
    """Runs modules as runs on this machine; folders are named relative to one work folder."""

    def __init__(self, ws, work):
        from rookery.sdk import Environment, Experiment

        self.experiment, self.work = Experiment(ws, "designer-birds"), work
        self.here = Environment("this-python")
        self.here.python.user_managed_dependencies = True
        self.here.python.interpreter_path = sys.executable
        self.source = os.path.join(work, "source")
        os.makedirs(self.source)
        with open(os.path.join(self.source, "run_module.py"), "w") as f:
            f.write(SCRIPT)

    def run(self, name, *folders, processes=1, **parameters):
        from rookery.sdk import PyTorchConfiguration, ScriptRunConfig

        card = find(name)
        ports = [port.name for port in (*card.inputs, *card.outputs)]
        given = {port: os.path.join(self.work, folder) for port, folder in zip(ports, folders) if folder}
        config = ScriptRunConfig(
            self.source,
            script="run_module.py",
            arguments=card.command(given, {}, parameters),
            environment=self.here,
            distributed_job_config=PyTorchConfiguration("Gloo", processes) if processes > 1 else None,
        )
        run = self.experiment.submit(config)
        print(f"{card.title}: {run.id}", flush=True)
        run.wait_for_completion(raise_on_error=True)
        return run


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, default in (("pictures", 60), ("epochs", 6), ("size", 64)):
        parser.add_argument("--" + option, type=int, default=default)
    args = parser.parse_args()
    main(pictures=args.pictures, epochs=args.epochs, size=args.size)
