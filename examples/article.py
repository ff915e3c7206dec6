"""The article *Train PyTorch models at scale*, single machine, as its readers typed it: nothing but `azureml` imports.

    python examples/article.py [--num_epochs 10] [--data_dir FOLDER]

Needs Rookery and its azureml shim (`make install-azureml`), torch, torchvision, Pillow and matplotlib in this environment.
"""

import argparse
import os
import shutil
import sys
import tempfile

from azureml.core import Environment, Experiment, ScriptRunConfig
from azureml.core.compute import AmlCompute, ComputeTarget
from azureml.core.compute_target import ComputeTargetException
from azureml.core.workspace import Workspace

BIRDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "birds")


def main(num_epochs=10, data_dir="", ws=None):
    """Train, register, download; returns (run, model, path of the downloaded file)."""
    ws = ws or Workspace.from_config()
    print("Workspace:", ws.name)

    project_folder = os.path.join(tempfile.mkdtemp(prefix="rookery-article-"), "pytorch-birds")
    os.makedirs(project_folder, exist_ok=True)
    shutil.copy(os.path.join(BIRDS, "pytorch_train.py"), project_folder)
    shutil.copy(os.path.join(BIRDS, "draw_birds.py"), project_folder)

    # Choose a name for your cluster
    cluster_name = "gpu-cluster"
    try:
        compute_target = ComputeTarget(workspace=ws, name=cluster_name)
        print("Found existing compute target")
    except ComputeTargetException:
        print("Creating a new compute target...")
        compute_config = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=4)
        compute_target = ComputeTarget.create(ws, cluster_name, compute_config)
        compute_target.wait_for_completion(show_output=True, min_node_count=None, timeout_in_minutes=20)

    # This interpreter has all that the script needs: the environment is the user's own.
    pytorch_env = Environment("pytorch-birds")
    pytorch_env.python.user_managed_dependencies = True
    pytorch_env.python.interpreter_path = sys.executable

    arguments = ["--num_epochs", num_epochs, "--output_dir", "./outputs"]
    src = ScriptRunConfig(
        source_directory=project_folder,
        script="pytorch_train.py",
        arguments=arguments + (["--data_dir", data_dir] if data_dir else []),
        compute_target=compute_target,
        environment=pytorch_env,
    )
    run = Experiment(ws, name="Tutorial-pytorch-birds").submit(src)
    run.wait_for_completion(show_output=True)

    model = run.register_model(model_name="pytorch-birds", model_path="outputs/model.pt")
    print(model.name, model.id, model.version, sep="\t")

    model_path = os.path.join(project_folder, "model", "model.pt")
    os.makedirs(os.path.dirname(model_path), exist_ok=True)
    run.download_file(name="outputs/model.pt", output_file_path=model_path)
    print("Downloaded %s, %.1f MB" % (model_path, os.path.getsize(model_path) / 1e6))
    return run, model, model_path


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=10)
    parser.add_argument("--data_dir", default="")
    args = parser.parse_args()
    main(args.num_epochs, os.path.abspath(args.data_dir) if args.data_dir else "")
