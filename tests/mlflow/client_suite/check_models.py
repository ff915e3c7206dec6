"""Models logged, registered and loaded; autologging; LoggedModels; traces."""

import uuid

import mlflow
import numpy
import pytest
from mlflow.exceptions import MlflowException

pytestmark = pytest.mark.filterwarnings("ignore")


def fitted():
    from sklearn.linear_model import LogisticRegression

    x = numpy.array([[0.0], [1.0], [2.0], [3.0]])
    return LogisticRegression().fit(x, [0, 0, 1, 1]), x


def test_log_and_load_a_scikit_learn_model(client, experiment):
    model, x = fitted()
    name = "reg-" + uuid.uuid4().hex[:8]
    with mlflow.start_run() as run:
        info = mlflow.sklearn.log_model(model, name="net", registered_model_name=name, pip_requirements=[])
    again = mlflow.sklearn.load_model(info.model_uri)
    assert (again.predict(x) == model.predict(x)).all()
    by_version = mlflow.pyfunc.load_model(f"models:/{name}/1")
    assert (by_version.predict(x) == model.predict(x)).all()
    client.set_registered_model_alias(name, "best", "1")
    assert mlflow.sklearn.load_model(f"models:/{name}@best") is not None
    assert mlflow.sklearn.load_model(f"models:/{name}/latest") is not None
    assert mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/net") is not None
    assert client.get_model_version(name, "1").run_id == run.info.run_id


def test_log_and_load_a_pytorch_model(client, experiment):
    import torch

    net = torch.nn.Linear(2, 1)
    with mlflow.start_run():
        info = mlflow.pytorch.log_model(net, name="net", pip_requirements=[], serialization_format="pickle")
    again = mlflow.pytorch.load_model(info.model_uri)
    assert torch.equal(again.weight, net.weight)


def test_autolog_of_scikit_learn(client, experiment):
    mlflow.sklearn.autolog(log_models=True)
    try:
        with mlflow.start_run() as run:
            fitted()
    finally:
        mlflow.sklearn.autolog(disable=True)
    found = client.get_run(run.info.run_id)
    assert found.data.params["C"] == "1.0"
    assert "training_score" in found.data.metrics
    assert found.outputs.model_outputs


def test_autolog_of_lightning(client, experiment, tmp_path):
    import lightning
    import torch

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch, _):
            loss = self.layer(batch).pow(2).mean()
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    mlflow.pytorch.autolog(log_models=False, checkpoint=False)
    try:
        with mlflow.start_run() as run:
            trainer = lightning.Trainer(
                max_epochs=3,
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                default_root_dir=str(tmp_path),
                log_every_n_steps=1,
            )
            trainer.fit(Net(), torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=4))
    finally:
        mlflow.pytorch.autolog(disable=True)
    found = client.get_run(run.info.run_id)
    assert found.data.params["epochs"] == "3"
    assert len(client.get_metric_history(run.info.run_id, "train_loss")) == 3
    assert any(f.path == "model_summary.txt" for f in client.list_artifacts(run.info.run_id))


def test_lightnings_own_logger(client, experiment, tracking):
    from lightning.pytorch.loggers import MLFlowLogger

    logger = MLFlowLogger(experiment_name=experiment.name, tracking_uri=tracking)
    logger.log_hyperparams({"lr": 0.1})
    logger.log_metrics({"loss": 0.5}, step=3)
    logger.finalize("success")
    found = client.get_run(logger.run_id)
    assert found.info.status == "FINISHED"
    assert (found.data.params, found.data.metrics) == ({"lr": "0.1"}, {"loss": 0.5})


def test_logged_models(client, experiment, run):
    made = client.create_logged_model(
        experiment.experiment_id,
        name="net",
        source_run_id=run.info.run_id,
        params={"p": "1"},
        tags={"t": "1"},
        model_type="kind",
    )
    assert made.status == "PENDING"
    client.log_metric(run.info.run_id, "acc", 0.75, model_id=made.model_id)
    client.log_model_params(made.model_id, {"q": "2"})
    client.set_logged_model_tags(made.model_id, {"u": "2"})
    client.delete_logged_model_tag(made.model_id, "t")
    client.finalize_logged_model(made.model_id, "READY")
    found = client.get_logged_model(made.model_id)
    assert (found.status, found.params, found.tags, found.model_type) == (
        "READY",
        {"p": "1", "q": "2"},
        {"u": "2"},
        "kind",
    )
    assert [(m.key, m.value, m.run_id) for m in found.metrics] == [("acc", 0.75, run.info.run_id)]
    ids = [experiment.experiment_id]
    other = client.create_logged_model(experiment.experiment_id, name="other")
    names = lambda text: [m.name for m in client.search_logged_models(ids, filter_string=text)]  # noqa: E731
    assert names("name = 'net'") == ["net"]
    assert names("metrics.acc > 0.5") == ["net"]
    assert names("params.p = '1' and tags.u = '2'") == ["net"]
    ordered = client.search_logged_models(ids, order_by=[{"field_name": "creation_time", "ascending": True}])
    assert [m.name for m in ordered] == ["net", "other"]
    client.delete_logged_model(other.model_id)
    with pytest.raises(MlflowException) as error:
        client.get_logged_model(other.model_id)
    assert error.value.error_code == "RESOURCE_DOES_NOT_EXIST"


def test_the_active_model(client, experiment):
    with mlflow.start_run():
        model = mlflow.set_active_model(name="agent")
        mlflow.log_metric("m", 1.0)
    mlflow.clear_active_model()
    assert client.get_logged_model(model.model_id).metrics[0].value == 1.0


def test_traces_do_not_break_clients(client, experiment):
    @mlflow.trace
    def add(a, b):
        return a + b

    assert add(1, 2) == 3
    mlflow.flush_trace_async_logging()
    found = mlflow.search_traces(locations=[experiment.experiment_id], return_type="list", include_spans=False)
    assert len(found) == 1
