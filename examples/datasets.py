"""Data sets from end to end: upload, register, a run that is given them in three ways, what it wrote as a data set, twice.

python examples/datasets.py [--folder FOLDER]
"""

import argparse
import os
import sys
import tempfile

TRAIN = """
import argparse, os
from azureml.core import Run

parser = argparse.ArgumentParser()
parser.add_argument("--pictures")   # mounted: a folder
parser.add_argument("--labels")     # downloaded: one file, so the path is the file's own
parser.add_argument("--table")      # direct: the id of the data set
parser.add_argument("--out")        # what is written here becomes a data set
args = parser.parse_args()
run = Run.get_context()

names = sorted(n for _, _, files in os.walk(args.pictures) for n in files)
print("pictures  mounted at a folder with %d files; run.input_datasets says the same: %s"
      % (len(names), run.input_datasets["pictures"] == args.pictures))
with open(args.labels) as f:
    labels = dict(line.strip().split(",") for line in f.readlines()[1:])
print("labels    downloaded as one file with %d rows" % len(labels))
table = run.input_datasets["table"]
print("table     direct: a %s, the very one: %s" % (type(table).__name__, table.id == args.table))

os.makedirs(args.out, exist_ok=True)
with open(os.path.join(args.out, "summary.csv"), "w") as f:
    f.write("name,label\\n" + "".join("%s,%s\\n" % (n, labels[n]) for n in names))
print("output    written to", os.path.basename(args.out.rstrip("/")))
run.log("pictures", len(names))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="where the files and the workspace go; a temporary one by default")
    args = parser.parse_args()
    if args.folder:
        show(os.path.abspath(args.folder))
    else:
        with tempfile.TemporaryDirectory(prefix="rookery-datasets-", ignore_cleanup_errors=True) as folder:
            show(folder)


def show(folder):
    os.environ.setdefault("ROOKERY_HOME", os.path.join(folder, "home"))
    from azureml.core import Dataset, Environment, Experiment, ScriptRunConfig, Workspace
    from azureml.data import OutputFileDatasetConfig

    source = os.path.join(folder, "source")
    make_files(source)
    ws = Workspace.create("datasets", exist_ok=True)
    store = ws.get_default_datastore()
    print("1. datastore '%s' (%s)" % (store.name, store.datastore_type))
    store.upload(os.path.join(source, "pictures"), target_path="birds/pictures", overwrite=True, show_progress=False)
    store.upload_files([os.path.join(source, "labels.csv")], target_path="birds", overwrite=True, show_progress=False)

    pictures = Dataset.File.from_files((store, "birds/pictures")).register(ws, "birds", create_new_version=True)
    labels = Dataset.File.from_files((store, "birds/labels.csv")).register(ws, "bird-labels", create_new_version=True)
    table = Dataset.Tabular.from_delimited_files((store, "birds/labels.csv"))
    table = table.register(ws, "bird-table", create_new_version=True)
    for each in (pictures, labels, table):
        print("2. registered '%s' version %d: %s" % (each.name, each.version, each.fingerprint[:12]))
    print("   files of '%s': %s …" % (pictures.name, ", ".join(pictures.to_path()[:2])))

    script = os.path.join(folder, "script")
    os.makedirs(script, exist_ok=True)
    with open(os.path.join(script, "use.py"), "w") as f:
        f.write(TRAIN)
    environment = Environment("here")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable

    for _ in range(2):
        summary = OutputFileDatasetConfig("summary").register_on_complete("bird-summary", tags={"by": "example"})
        config = ScriptRunConfig(
            script,
            "use.py",
            arguments=[
                "--pictures", pictures.as_named_input("pictures").as_mount(),
                "--labels", labels.as_named_input("labels").as_download(),
                "--table", table.as_named_input("table"),
                "--out", summary,
            ],
            environment=environment,
        )  # fmt: skip
        run = Experiment(ws, "datasets").submit(config)
        print("3. run %s" % run.id)
        run.wait_for_completion(show_output=True)
        made = Dataset.get_by_name(ws, "bird-summary")
        print("4. '%s' version %d, made by that run: %s" % (made.name, made.version, made.to_path()))
        # The next run has one picture more to look at, and so another summary.
        with open(os.path.join(source, "pictures", "turkey-9.txt"), "w") as f:
            f.write("a picture of turkey 9")
        store.upload(os.path.join(source, "pictures"), target_path="birds/pictures", show_progress=False)
        pictures = Dataset.File.from_files((store, "birds/pictures")).register(ws, "birds", create_new_version=True)

    used = run.get_details()["inputDatasets"][1]["dataset"]
    print(
        "5. the run was given '%s' version %s with fingerprint %s"
        % (used["name"], used["version"], used["fingerprint"][:12])
    )
    print("   versions of bird-summary: %d, of birds: %d" % (made.version, pictures.version))
    ws.client.request("POST", "/keeper/stop")


def make_files(source):
    os.makedirs(os.path.join(source, "pictures"), exist_ok=True)
    rows = ["name,label"]
    for kind in ("chicken", "turkey"):
        for i in range(10):
            name = "%s-%d.txt" % (kind, i)
            rows.append("%s,%s" % (name, kind))
            if not (kind == "turkey" and i == 9):
                with open(os.path.join(source, "pictures", name), "w") as f:
                    f.write("a picture of %s %d" % (kind, i))
    with open(os.path.join(source, "labels.csv"), "w") as f:
        f.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
