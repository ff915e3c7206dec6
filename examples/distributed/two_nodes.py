"""What the distributed examples share: a cluster of two nodes, this interpreter as environment, and a look at the losses."""

import os
import re
import sys

from azureml.core import Environment
from azureml.core.compute import AmlCompute, ComputeTarget, RayCompute, SlurmCompute
from azureml.core.compute_target import ComputeTargetException

SOURCE = os.path.dirname(os.path.abspath(__file__))


def get_cluster(ws, name=None):
    """The target of that name. Without one: two nodes of this machine. `ray` and `slurm`, where nothing is attached under these
    names yet, are the clusters that `make ray-cluster` and `make slurm-cluster` have started."""
    try:
        return ComputeTarget(workspace=ws, name=name or "two-nodes")
    except ComputeTargetException:
        if name in ("ray", "slurm"):
            return attach_cluster(ws, name)
        if name:
            raise
        config = AmlCompute.provisioning_configuration(vm_size="STANDARD_NC6", max_nodes=2)
        target = ComputeTarget.create(ws, "two-nodes", config)
        target.wait_for_completion(show_output=True, min_node_count=None, timeout_in_minutes=20)
        return target


def attach_cluster(ws, name):
    from rookery.testing.lasting import lasting_cluster

    options = lasting_cluster(name)
    if options is None:
        sys.exit(
            "No compute target is called %s. Start a cluster with `make %s-cluster`, or attach yours with `rookery compute attach %s`."
            % (name, name, name)
        )
    kind = {"ray": RayCompute, "slurm": SlurmCompute}[name]
    target = ComputeTarget.attach(ws, name, kind.attach_configuration(**options))
    target.wait_for_completion(show_output=True)
    return target


def this_interpreter():
    env = Environment("this-interpreter")
    env.python.user_managed_dependencies = True
    env.python.interpreter_path = sys.executable
    return env


def check_losses(run, ranks):
    """Print each epoch's loss; all ranks must have the same, and it must fall."""
    logs = run.get_details_with_logs()["logFiles"]
    text = "\n".join(v for k, v in logs.items() if "70_driver_log" in k)
    seen = {}
    for rank, epoch, loss in re.findall(r"rank (\d+) of \d+ epoch (\d+) loss (\S+)", text):
        seen.setdefault(int(epoch), {})[int(rank)] = loss
    for epoch, losses in sorted(seen.items()):
        assert sorted(losses) == list(range(ranks)), "epoch %d: only ranks %s" % (epoch, sorted(losses))
        assert len(set(losses.values())) == 1, "epoch %d: losses differ: %s" % (epoch, losses)
        print("epoch %d  loss %s on all %d ranks" % (epoch, losses[0], ranks))
    first, last = (float(seen[e][0]) for e in (min(seen), max(seen)))
    assert last < first, "the loss did not fall: %s to %s" % (first, last)
    assert run.get_metrics()["loss"], "nothing was logged"
