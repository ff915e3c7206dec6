"""The article's hyperparameter tuning: random values, Bandit stops the bad ones, the best one is registered. Nothing but `azureml` imports.

    python examples/tune_birds.py [--max_total_runs 8] [--num_epochs 4] [--max_concurrent_runs 2]

Needs what `examples/article.py` needs. The pictures are drawn once; every child is an ordinary run on `local`, this machine.
"""

import argparse
import json
import os
import sys
import tempfile

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace
from azureml.train.hyperdrive import (
    BanditPolicy,
    HyperDriveConfig,
    PrimaryMetricGoal,
    RandomParameterSampling,
    choice,
    uniform,
)

HERE = os.path.dirname(os.path.abspath(__file__))
BIRDS = os.path.join(HERE, "birds")
sys.path.insert(0, BIRDS)


def main(max_total_runs=8, num_epochs=4, max_concurrent_runs=2, ws=None, data_dir=""):
    """Returns (the tuning, its best run)."""
    from draw_birds import make_birds

    ws = ws or Workspace.from_config()
    data_dir = data_dir or os.path.join(tempfile.mkdtemp(prefix="rookery-birds-"), "birds")
    if not os.path.isdir(data_dir):
        print("Drawn: %d pictures of chickens and turkeys" % make_birds(data_dir))

    # This interpreter has all that the script needs: the environment is the user's own.
    environment = Environment("pytorch-birds")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    src = ScriptRunConfig(
        source_directory=BIRDS,
        script="pytorch_train.py",
        arguments=[
            "--num_epochs",
            num_epochs,
            "--picture_size",
            32,
            "--output_dir",
            "./outputs",
            "--data_dir",
            data_dir,
        ],
        compute_target="local",
        environment=environment,
    )

    param_sampling = RandomParameterSampling(
        {"learning_rate": uniform(0.0005, 0.05), "momentum": uniform(0.8, 0.99), "batch_size": choice(16, 32)},
        properties={"seed": 7},
    )
    early_termination_policy = BanditPolicy(slack_factor=0.15, evaluation_interval=1, delay_evaluation=2)
    hyperdrive_config = HyperDriveConfig(
        run_config=src,
        hyperparameter_sampling=param_sampling,
        policy=early_termination_policy,
        primary_metric_name="val_acc",
        primary_metric_goal=PrimaryMetricGoal.MAXIMIZE,
        max_total_runs=max_total_runs,
        max_concurrent_runs=max_concurrent_runs,
    )
    hyperdrive_run = Experiment(ws, "pytorch-birds-hyperdrive").submit(hyperdrive_config)
    hyperdrive_run.wait_for_completion(show_output=True)
    assert hyperdrive_run.get_status() == "Completed"

    print("The best first:")
    for child in hyperdrive_run.get_children_sorted_by_primary_metric():
        values = json.loads(child["hyperparameters"])
        print(
            "  %-10s val_acc %s  learning_rate %.4f  momentum %.2f  batch_size %d"
            % (child["status"], shown(child["best_primary_metric"]), values["learning_rate"], values["momentum"], values["batch_size"])
        )  # fmt: skip
    best_run = hyperdrive_run.get_best_run_by_primary_metric()
    best_run_metrics = best_run.get_metrics()
    print("Best run:", best_run.id)
    print("  arguments", best_run.get_details()["runDefinition"]["arguments"])
    print("  best validation accuracy %.3f" % max(listed(best_run_metrics["val_acc"])))
    if "outputs/model.pt" in best_run.get_file_names():  # one that was stopped early has not written it
        model = best_run.register_model(model_name="pytorch-birds-tuned", model_path="outputs/model.pt")
        print("  registered as %s, version %d" % (model.name, model.version))
    print("Studio:", hyperdrive_run.get_portal_url())
    return hyperdrive_run, best_run


def shown(value):
    return "  -  " if value is None else "%.3f" % value


def listed(values):
    return values if isinstance(values, list) else [values]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max_total_runs", type=int, default=8)
    parser.add_argument("--num_epochs", type=int, default=4)
    parser.add_argument("--max_concurrent_runs", type=int, default=2)
    args = parser.parse_args()
    main(args.max_total_runs, args.num_epochs, args.max_concurrent_runs)
