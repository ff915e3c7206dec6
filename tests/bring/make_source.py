"""Run by the real MLflow client in its own environment: fills the tracking store that MLFLOW_TRACKING_URI names."""

import json
import os
import shutil
import sys
import tempfile

import mlflow
from mlflow import MlflowClient
from mlflow.data.http_dataset_source import HTTPDatasetSource
from mlflow.data.meta_dataset import MetaDataset
from mlflow.entities import Metric, Param, RunTag

client = MlflowClient()
first = client.create_experiment("/Shared/vision äöü", tags={"team": "birds"})
gone = client.create_experiment("thrown away")
folder = tempfile.mkdtemp()
os.makedirs(os.path.join(folder, "deep", "er"))
for name, content in (("a.txt", b"hello"), ("deep/er/b+c d.bin", os.urandom(300_000)), ("empty", b"")):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(content)
facts = {"folder": folder}

mlflow.set_experiment(experiment_id=first)
with mlflow.start_run(run_name="the parent", description="what it was") as run:
    mlflow.log_params({"lr": "0.1", "layer/size": "12", "long": "x" * 500})
    mlflow.set_tags({"color": "red", "empty": ""})
    many = [Metric("loss", 1.0 / (i + 1), 1_700_000_000_000 + i, i) for i in range(2500)]
    for i in range(0, 2500, 500):
        client.log_batch(run.info.run_id, metrics=many[i : i + 500])
    for value in (float("nan"), float("inf"), float("-inf"), 3.5):
        mlflow.log_metric("odd", value, step=7)
    mlflow.log_metric("val/acc", 0.5, step=-3)
    mlflow.log_artifacts(folder)
    mlflow.log_text("text", "notes/today.md")
    dataset = MetaDataset(HTTPDatasetSource("http://example.invalid/birds.csv"), name="birds", digest="abc123")
    mlflow.log_input(dataset, context="training", tags={"split": "one"})
    logged = mlflow.initialize_logged_model(
        name="net", params={"depth": "3"}, tags={"kind": "cnn"}, model_type="classifier"
    )
    client.log_model_artifacts(logged.model_id, folder)
    mlflow.log_metric("test_acc", 0.75, step=1, model_id=logged.model_id, dataset=dataset)
    mlflow.finalize_logged_model(logged.model_id, "READY")
    client.log_outputs(run.info.run_id, [mlflow.entities.LoggedModelOutput(logged.model_id, 5)])
    with mlflow.start_run(run_name="the child", nested=True) as child:
        mlflow.log_metric("loss", 0.25, step=0)
    facts.update(parent=run.info.run_id, child=child.info.run_id, model=logged.model_id)

for status in ("FAILED", "KILLED", "RUNNING", "FINISHED"):
    made = client.create_run(first, run_name=status.lower(), start_time=1_700_000_000_123)
    client.log_batch(made.info.run_id, params=[Param("p", status)], tags=[RunTag("t", status)])
    if status != "RUNNING":
        client.set_terminated(made.info.run_id, status, end_time=1_700_000_100_456)
    facts[status] = made.info.run_id
client.delete_run(facts["FINISHED"])
lost = client.create_run(gone, run_name="in the bin")
client.log_metric(lost.info.run_id, "loss", 1.0)
client.set_terminated(lost.info.run_id)
client.delete_experiment(gone)
facts["in_bin"] = lost.info.run_id

client.create_registered_model("bird net", tags={"owner": "me"}, description="finds birds")
root = client.get_run(facts["parent"]).info.artifact_uri
for source, more in (
    (f"{root}/deep", {"run_id": facts["parent"], "tags": {"from": "run"}}),
    (f"{root}/notes", {"run_id": facts["parent"]}),
    (f"models:/{logged.model_id}", {"model_id": logged.model_id, "description": "third"}),
):
    client.create_model_version("bird net", source, **more)
client.delete_model_version("bird net", "2")
client.set_registered_model_alias("bird net", "champion", "3")
if "--stages" in sys.argv:
    client.transition_model_version_stage("bird net", "1", "Production")
client.create_registered_model("nothing yet")
shutil.rmtree(folder)
print("FACTS " + json.dumps(facts))
