"""A run that is exported for Kubernetes: its manifests start it, whoever applies them, and it can be stopped and found again."""

from __future__ import annotations

import os
import stat

import pytest
import yaml

from rookery.cli.main import main
from rookery.errors import ConflictError, UserError
from rookery.sdk import Run, Workspace
from rookery.testing.cluster_runs import kill_keeper, lines
from rookery.testing.ending import evidence, wait_for_end
from rookery.testing.pods import Pods
from rookery.testing.stand_in import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SCRIPT = """
import os, socket, time
print("RANK", os.environ["RANK"], "OF", os.environ["WORLD_SIZE"], "ON", socket.gethostname(), os.environ["MASTER_ADDR"], flush=True)
while os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stay")):
    time.sleep(0.05)
"""
WAITS = "exported for Kubernetes; waiting for its agents"


@pytest.fixture(scope="module")
def pods():
    with Pods(2) as made:
        yield made


@pytest.fixture
def ws(monkeypatch):
    monkeypatch.setenv("ROOKERY_HEARTBEAT_S", "0.5")
    return Workspace.create("nest")


@pytest.fixture
def export(ws, pods, tmp_path, capsys):
    """`rookery run --export`: the run and its manifests."""

    def run(*more, stays=False, nodes=2):
        source = tmp_path / "a source"
        source.mkdir(exist_ok=True)
        (source / "train.py").write_text(SCRIPT)
        if stays:
            (source / "stay").write_text("")
        file = tmp_path / "manifests.yaml"
        words = ["--workspace", ws.root, "run", "--export", str(file), "--compute", "k8s", "--nodes", str(nodes)]
        words += ["--k8s", f"keeper_url=http://{pods.network.address}", "--k8s", "image=python:3.11", "--k8s", "cpus=1"]
        words += ["--python", "python3", *more, "--source", str(source), str(source / "train.py")]
        assert main(words) == 0
        run_id = capsys.readouterr().out.split()[0]
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        with open(file) as f:
            return Run(ws.experiments["train"], run_id), list(yaml.safe_load_all(f))

    return run


def test_its_manifests_start_it_also_after_a_restart_of_the_keeper(export, ws, pods):
    run, manifests = export()
    wait_for(lambda: WAITS in ws.client.request("GET", f"/runs/{run.id}")["reason"], "that it says what it waits for")
    assert ws.client.request("GET", f"/runs/{run.id}")["status"] == "Provisioning"
    kill_keeper(ws)
    wait_for(lambda: WAITS in ws.client.request("GET", f"/runs/{run.id}")["reason"], "the same from another keeper")
    pods.apply(manifests)
    details = wait_for_end(run)
    assert details["status"] == "Completed", (evidence(run), pods.words(0), pods.words(1))
    found = sorted(lines(run, "RANK"))
    assert [line[1:4] + line[5:6] for line in found] == [["0", "OF", "2", "k0"], ["1", "OF", "2", "k1"]]
    assert found[0][6] == found[1][6]
    assert pods.wait() == [0, 0]
    with pytest.raises(ConflictError, match="is Completed"):
        ws.client.request("POST", f"/runs/{run.id}/manifests", body={})


def test_it_can_be_canceled_while_it_waits(export, ws):
    run, _ = export(nodes=1)
    run.cancel()
    assert (
        wait_for_end(run, 25)["status"] == "Canceled"
    )  # at once, and not after the grace of agents that are not there


def test_a_pod_that_goes_without_a_word_is_lost(export, ws, pods):
    run, manifests = export("--k8s", "lost_after_s=10", stays=True, nodes=1)
    pods.apply(manifests)
    wait_for(lambda: ws.client.request("GET", f"/runs/{run.id}")["status"] == "Running", "the start of the run", 90)
    pods.kill(0)
    details = wait_for_end(run)
    assert details["status"] == "Failed"
    assert "was given up" in details["attempts"][0]["cause"]["summary"], details["attempts"]


def test_says_what_is_missing(ws, pods, tmp_path, capsys):
    script = _script(tmp_path, "")
    words = ["--workspace", ws.root, "run", "--export", "-", "--compute", "k8s"]
    assert main([*words, script]) != 0
    assert "keeper_url=http://HOST:PORT" in capsys.readouterr().err
    url = f"keeper_url=http://{pods.network.address}"
    assert main([*words, "--k8s", url, script]) != 0
    assert "image=" in capsys.readouterr().err
    assert main([*words, "--k8s", "image=i", script]) != 0
    assert "'k8s' is there already with image=None" in capsys.readouterr().err


def test_only_such_runs_have_manifests(ws, tmp_path):
    script = _script(tmp_path, "import time; time.sleep(60)")
    assert main(["--workspace", ws.root, "run", "-d", script]) == 0
    (run,) = ws.experiments["train"].get_runs()
    with pytest.raises(UserError, match="is no Kubernetes"):
        ws.client.request("POST", f"/runs/{run.id}/manifests", body={})
    run.cancel()
    wait_for_end(run)


def _script(folder, text):
    source = folder / "a source"
    source.mkdir()
    (source / "train.py").write_text(text)
    return str(source / "train.py")
