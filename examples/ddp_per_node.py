"""DistributedDataParallel on two nodes: torchrun is started once per node and starts two processes there.

    python examples/ddp_per_node.py [--epochs 4] [--compute NAME]

NAME is any compute target; `ray` and `slurm` are the clusters of `make ray-cluster` and `make slurm-cluster`. Without it: two nodes of this machine.
Needs Rookery and its azureml shim (`make install-azureml`) and torch in this environment.
"""

import argparse
import os
import sys

from azureml.core import Experiment, ScriptRunConfig
from azureml.core.runconfig import PyTorchConfiguration
from azureml.core.workspace import Workspace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributed"))

from two_nodes import SOURCE, check_losses, get_cluster, this_interpreter


def main(epochs=4, ws=None, compute=None):
    ws = ws or Workspace.from_config()
    launch = "torchrun --nproc_per_node 2 --nnodes 2 --node_rank $NODE_RANK --master_addr $MASTER_ADDR --master_port $MASTER_PORT"
    src = ScriptRunConfig(
        source_directory=SOURCE,
        command=[*launch.split(), "train_ddp.py", "--epochs", epochs],
        compute_target=get_cluster(ws, compute),
        environment=this_interpreter(),
        distributed_job_config=PyTorchConfiguration(node_count=2),
    )
    run = Experiment(ws, "ddp-per-node").submit(src)
    run.wait_for_completion(show_output=True)
    check_losses(run, ranks=4)
    return run


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--compute", help="a compute target's name; ray and slurm: the clusters of `make …-cluster`")
    given = parser.parse_args()
    main(given.epochs, compute=given.compute)
