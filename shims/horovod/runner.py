"""horovod.runner: starting processes is the job of Rookery (or mpirun, or torchrun), not of this package."""

__all__ = ["run", "run_commandline"]


def run(*args, **kwargs):
    """RuntimeError that says how to start the processes instead."""
    raise RuntimeError(
        "horovod.run and horovodrun are not part of Rookery's horovod. Start the processes with "
        "ScriptRunConfig(distributed_job_config=MpiConfiguration(process_count_per_node=…, node_count=…)), or with "
        "`mpirun -np N python train.py` or `torchrun --nproc_per_node N train.py`; hvd.init() finds its rank in all three."
    )


run_commandline = run
