"""MLflow in a rank whose agent reaches the keeper through files only: a stock client, the agent's relay, the spool, the record."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess

import pytest

from rookery.agent.keeper import Keeper
from rookery.agent.tracking import TrackingRelay, with_tracking
from rookery.spec.job import NODE_TRACKING, Job, KeeperAddress, RankJob
from rookery.testing.mlflow_client import ensure_client
from tests.server.conftest import client_at
from tests.server.test_spool import agent, folder, pump  # noqa: F401  (fixtures)

SEARCH = "/api/2.0/mlflow/experiments/search"
SCRIPT = """
import mlflow
for step in range(30):
    mlflow.log_metric("loss", 1.0 / (step + 1), step=step)
mlflow.log_param("lr", 0.1)
mlflow.log_text("chicken\\n" * 10_000, "labels.txt")
assert mlflow.MlflowClient().get_run("run-1").data.params == {"lr": "0.1"}
"""


@pytest.fixture
def relay(agent):  # noqa: F811
    made = TrackingRelay(agent)
    yield made
    made.stop()


class TestTrackingRelay:
    @pytest.mark.slow
    @pytest.mark.timeout(1800)
    def test_a_stock_client_writes_to_its_run(self, api, relay, token):
        done = subprocess.run(
            [ensure_client(), "-W", "ignore", "-c", SCRIPT],
            env={
                **os.environ, "MLFLOW_TRACKING_URI": relay.url, "MLFLOW_TRACKING_TOKEN": token(),
                "MLFLOW_RUN_ID": "run-1", "MLFLOW_EXPERIMENT_NAME": "birds",
            },
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        metrics = api.owner.get("/runs/run-1/metrics").json()["metrics"]
        assert [(m["name"], len(m["values"])) for m in metrics] == [("loss", 30)]
        assert api.owner.get("/runs/run-1/artifacts/labels.txt").text == "chicken\n" * 10_000

    def test_the_port_is_no_way_in(self, api, relay, token):
        with client_at(relay.url) as client:
            assert client.post(SEARCH, json={"max_results": 1}).status_code == 401
            wrong = {"Authorization": "Bearer rkr_wrong"}
            assert client.post(SEARCH, json={"max_results": 1}, headers=wrong).status_code == 401
            right = {"Authorization": f"Bearer {token()}"}
            assert client.post(SEARCH, json={"max_results": 1}, headers=right).status_code == 200
            assert client.get("/api/v1/runs", headers=right).status_code == 404
            own = {"Authorization": f"Bearer {api.record.tokens.make('', 'track')}"}
            assert client.post(SEARCH, json={"max_results": 1}, headers=own).status_code == 403  # runs' tokens only

    @pytest.mark.parametrize("given", [None, "", " ", "Bearer", "Bearer ", "Basic ", "Nonsense x"])
    def test_it_is_none_to_the_keeper_s_socket_either(self, api, tmp_path, given):
        """Where whoever brings no token is the owner."""
        endpoint = tmp_path / "keeper.json"
        endpoint.write_text(json.dumps({"socket": api.socket, "hostname": socket.gethostname()}))
        job = Job("run-1", 1, 0, "run", "rkr_x", KeeperAddress(endpoint_file=str(endpoint)))
        relay = TrackingRelay(Keeper(job, str(tmp_path), lambda text: None))
        try:
            with contextlib.closing(http.client.HTTPConnection(relay.url.partition("//")[2], timeout=60)) as client:
                client.request(
                    "GET", SEARCH + "?max_results=1", headers={} if given is None else {"Authorization": given}
                )
                assert client.getresponse().status == 401
        finally:
            relay.stop()

    def test_a_body_of_no_known_length_is_refused(self, relay, token):
        with client_at(relay.url) as client:
            answer = client.post(SEARCH, content=iter([b"{", b"}"]), headers={"Authorization": f"Bearer {token()}"})
        assert answer.status_code == 411


class TestJob:
    def test_ranks_get_its_address_where_they_ask_for_one(self, agent):  # noqa: F811
        ranks = (
            RankJob(0, 0, variables={"MLFLOW_TRACKING_URI": NODE_TRACKING, "A": "b"}),
            RankJob(1, 1, variables={"MLFLOW_TRACKING_URI": "https://their.own"}),
        )
        job, relay = with_tracking(Job("run-1", 1, 0, "run", "t", KeeperAddress(), ranks=ranks), agent)
        assert relay is not None
        relay.stop()
        assert job.ranks[0].variables == {"MLFLOW_TRACKING_URI": relay.url, "A": "b"}
        assert job.ranks[1].variables == {"MLFLOW_TRACKING_URI": "https://their.own"}

    def test_nothing_listens_where_none_does(self, agent):  # noqa: F811
        job = Job("run-1", 1, 0, "run", "t", KeeperAddress(), ranks=(RankJob(0, 0, variables={"A": "b"}),))
        assert with_tracking(job, agent) == (job, None)
