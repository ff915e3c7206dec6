"""Environments: a curated one, a conda file, a requirements file, a copy with one package more, and one saved to a folder.

    python examples/environments.py [--curated AzureML-Minimal]

Each is built once on this machine, however often it is asked for; every run prints the versions that it found. Nothing but
`azureml` imports; needs Rookery and its azureml shim (`make install-azureml`).
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

from azureml.core import Environment, Experiment, ScriptRunConfig
from azureml.core.workspace import Workspace

SCRIPT = """
import importlib, sys
found = ["python " + sys.version.split()[0]]
for name in sys.argv[1:]:
    found.append(name + " " + importlib.import_module(name).__version__)
print("versions:", ", ".join(found))
"""

CONDA = """\
name: from-conda
channels:
  - conda-forge
dependencies:
  - python=%d.%d
  - pip:
    - packaging
    - azureml-defaults
""" % sys.version_info[:2]


def main(curated="AzureML-Minimal", ws=None):
    """Run the script in each environment; returns {name: (versions, seconds)}."""
    ws = ws or Workspace.from_config()
    folder = tempfile.mkdtemp(prefix="rookery-environments-")
    source = os.path.join(folder, "source")
    os.makedirs(source)
    write(os.path.join(source, "versions.py"), SCRIPT)
    experiment = Experiment(ws, name="environments")
    results = {}

    def run_in(environment, *modules):
        began = time.time()
        config = ScriptRunConfig(
            source_directory=source, script="versions.py", arguments=list(modules), environment=environment
        )
        run = experiment.submit(config)
        run.wait_for_completion()
        log = run.get_details_with_logs()["logFiles"]["azureml-logs/70_driver_log.txt"]
        versions = next(line for line in log.splitlines() if line.startswith("versions:"))[len("versions: ") :]
        seconds = time.time() - began
        print("%-24s %-44s %5.1f s" % (environment.name, versions, seconds), flush=True)
        results.setdefault(environment.name, []).append((versions, seconds))

    # 1. Curated: a name that code of SDK v1 asks for.
    minimal = Environment.get(workspace=ws, name=curated)
    run_in(minimal)

    # 2. A conda file.
    conda_file = os.path.join(folder, "conda.yml")
    write(conda_file, CONDA)
    run_in(Environment.from_conda_specification(name="from-conda", file_path=conda_file), "packaging")

    # 3. A requirements file.
    requirements = os.path.join(folder, "requirements.txt")
    write(requirements, "idna\npackaging\n")
    from_pip = Environment.from_pip_requirements(name="from-pip", file_path=requirements)
    run_in(from_pip, "idna", "packaging")

    # 4. The curated one again with one package more. Curated ones cannot be changed, a copy can.
    mine = minimal.clone("minimal-and-idna")
    mine.python.conda_dependencies.add_pip_package("idna")
    run_in(mine, "idna")

    # 5. Saved to a folder, read back, registered, found again.
    saved = os.path.join(folder, "saved")
    mine.save_to_directory(path=saved)
    print("saved to %s: %s" % (saved, ", ".join(sorted(os.listdir(saved)))))
    loaded = Environment.load_from_directory(path=saved)
    loaded.register(workspace=ws)
    registered = Environment.get(workspace=ws, name="minimal-and-idna")
    print("registered %s, version %s" % (registered.name, registered.version))
    run_in(registered, "idna")
    shutil.rmtree(folder)
    return results


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--curated", default="AzureML-Minimal", help="the curated environment to begin with")
    main(parser.parse_args().curated)
