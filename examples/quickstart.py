"""What `make quickstart` runs: pictures, workspace, data set, cluster, the article's training, the registered model, the result.

python examples/quickstart.py [--folder quickstart] [--num_epochs 10]
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "birds"))

import article
from azureml.core import Dataset, Workspace
from draw_birds import make_birds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="quickstart", help="where the pictures and the workspace go")
    parser.add_argument("--num_epochs", type=int, default=10)
    args = parser.parse_args()
    start = time.time()
    folder = os.path.abspath(args.folder)
    birds = os.path.join(folder, "birds")

    print("1. %d pictures of chickens and turkeys in %s" % (make_birds(birds), birds), flush=True)
    os.environ.setdefault("ROOKERY_HOME", os.path.join(folder, "home"))
    ws = Workspace.create("quickstart", exist_ok=True)
    ws.write_config(path=folder)
    print("2. workspace '%s', known in %s through config.json" % (ws.name, folder))
    data = Dataset.File.upload_directory(birds, (ws.get_default_datastore(), "birds"), show_progress=False)
    data = data.register(ws, "birds", description="drawn chickens and turkeys", create_new_version=True)
    print("3. data set '%s' version %d" % (data.name, data.version))
    print("4. training, with the article's code:\n", flush=True)
    run, model, path = article.main(args.num_epochs, data.as_named_input("birds").as_mount(), ws)

    metrics = run.get_metrics()
    pictures = [name for name in run.get_file_names() if name.endswith(".png")]
    print("\nDone in %.0f s." % (time.time() - start))
    print(
        "  accuracy   %.1f %% of 200 validation pictures (best of %d epochs)"
        % (100 * metrics["best_val_acc"], args.num_epochs)
    )
    print("  model      %s, version %d (%s)" % (model.name, model.version, path))
    print("  picture    %s" % ", ".join(pictures))
    print("  data       %s, version %d: `rookery data show %s`" % (data.name, data.version, data.name))
    print("  studio     %s" % run.get_portal_url())
    print("  designer   %s" % (run.get_portal_url().partition("/runs/")[0] + "/designer"))
    print("\nNext: cd %s && %s studio %s" % (os.path.relpath(folder), rookery_command(folder), run.id))


def rookery_command(folder):
    """`rookery` where this environment is activated, else its path as seen from the folder."""
    if os.environ.get("VIRTUAL_ENV"):
        return "rookery"
    return os.path.relpath(os.path.join(os.path.dirname(sys.executable), "rookery"), folder)


if __name__ == "__main__":
    main()
