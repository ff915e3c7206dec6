"""Runs inside the environment of a real MLflow client; knows the server by its address only."""

import os
import urllib.request
import uuid

import mlflow
import pytest
from mlflow import MlflowClient

URI = os.environ["CHECK_TRACKING_URI"]  # with the token in it, as ws.get_mlflow_tracking_uri() gives it
RESET = os.environ["CHECK_RESET_URL"]


@pytest.fixture(scope="session", autouse=True)
def tracking():
    mlflow.set_tracking_uri(URI)
    return URI


@pytest.fixture
def client():
    return MlflowClient(URI)


@pytest.fixture
def fresh():
    """An empty store."""
    mlflow.end_run()
    urllib.request.urlopen(urllib.request.Request(RESET, method="POST"), timeout=120).read()


@pytest.fixture
def experiment(client):
    """A new experiment, set for the fluent API."""
    name = "e-" + uuid.uuid4().hex[:12]
    found = mlflow.set_experiment(name)
    yield found
    while mlflow.active_run():
        mlflow.end_run()


@pytest.fixture
def run(client, experiment):
    return client.create_run(experiment.experiment_id)
