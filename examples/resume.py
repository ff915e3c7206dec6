"""A run that loses its node and goes on where it left off.

    python examples/resume.py

Submits itself to a low-priority cluster of one node, takes that node away while it works (`rookery compute preempt` does the
same), and shows that the second attempt begins at the step where the first one stopped. Needs nothing but Rookery.
"""

import json
import os
import sys
import time

STEPS = 200


def train():
    """What runs: counts, and saves its place when it is asked to stop."""
    from rookery.worker import checkpoint_dir, leave_for_resume, should_stop

    place = os.path.join(checkpoint_dir(), "place.json")
    attempt = os.environ.get("ROOKERY_ATTEMPT", "1")
    should_stop()  # from here on a request to stop no longer ends the process
    first, total = 0, 0
    if os.path.exists(place):
        with open(place) as f:
            saved = json.load(f)
        first, total = saved["step"], saved["total"]
        print(f"Attempt {attempt} resumed at step {first}", flush=True)
    else:
        print(f"Attempt {attempt} begins at step 0", flush=True)
    for step in range(first, STEPS):
        if should_stop():
            with open(place + ".new", "w") as f:
                json.dump({"step": step, "total": total}, f)
            os.replace(place + ".new", place)  # whole or not at all
            print(f"Asked to stop: saved step {step}", flush=True)
            leave_for_resume()
        total += step
        time.sleep(0.02)
    assert total == sum(range(STEPS)), "a step was lost or done twice"
    print(f"Finished all {STEPS} steps: {total}", flush=True)


def main(ws=None):
    """Submit, preempt once, wait; returns the run."""
    from rookery.sdk import AmlCompute, ComputeTarget, Environment, Experiment, Retries, ScriptRunConfig, Workspace

    ws = ws or Workspace.from_config()
    if "spot" not in ws.compute_targets:
        settings = AmlCompute.provisioning_configuration(vm_size="", vm_priority="lowpriority", max_nodes=1)
        ComputeTarget.create(ws, "spot", settings).wait_for_completion()

    here = Environment("this-python")
    here.python.user_managed_dependencies = True
    here.python.interpreter_path = sys.executable
    folder, script = os.path.split(os.path.abspath(__file__))
    src = ScriptRunConfig(folder, script=script, arguments=["--train"], compute_target="spot", environment=here)
    src.run_config.retries = Retries(lost_node=2)  # 3 is what a low-priority cluster gives without it
    run = Experiment(ws, "resume").submit(src)

    while "begins" not in "".join(run.get_details_with_logs()["logFiles"].values()):
        time.sleep(0.1)
    taken = ws.compute_targets["spot"].preempt(grace_s=10, away_s=1)
    print(f"Took {taken['node']} away from {run.id}")

    details = run.wait_for_completion(raise_on_error=True)
    print(run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"], end="")
    for attempt in details["attempts"]:
        cause = attempt["cause"] or {}
        print(f"Attempt {attempt['attempt']}: {attempt['result']} {cause.get('summary', '')}".rstrip())
    return run


if __name__ == "__main__":
    train() if "--train" in sys.argv[1:] else main()
