"""deploy, predict, endpoints: the real program, a real keeper, real scoring processes."""

from __future__ import annotations

import json
import time

import pytest
from PIL import Image

from tests.cli.program import Program
from tests.serve.onnx_bytes import red_or_blue

pytestmark = pytest.mark.slow

SCORE = """
import json
from azureml.contrib.services.aml_request import rawhttp
from azureml.contrib.services.aml_response import AMLResponse

def init():
    print("I have come up")

@rawhttp
def run(request):
    body = request.get_data(False)
    if body.startswith(b"\\x89PNG"):
        return AMLResponse({"label": "rook", "probability": 0.875}, 200, json_str=True)
    if not body.startswith(b"{"):
        return AMLResponse("no JSON", 400)
    return AMLResponse({"seen": json.loads(body.decode())}, 200, json_str=True)
"""


@pytest.fixture
def program(tmp_path):
    made = Program(tmp_path / "it's a project", tmp_path / "rookery's home")
    made("init", ".")
    (made.folder / "words.json").write_text("{}")
    (made.folder / "score.py").write_text(SCORE)
    (made.folder / "rook.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (made.folder / "asked.json").write_text('{"a": 1}')
    made("models", "register", "birds", "--path", "words.json")
    return made


class TestEndpoints:
    def test_from_deploy_to_delete(self, program):
        assert program("endpoints", "list").stdout == "No endpoints yet.\n"
        said = program(
            "deploy", "birds", "--script", "score.py", "--tag", "area=east", "--replicas", "1"
        ).stdout.split()
        assert said[:2] == ["birds", "Healthy"]
        assert said[2].startswith("http://127.0.0.1:")
        assert program("predict", "birds", "rook.png").stdout == "rook  0.8750\n"
        assert program.json("predict", "birds", "asked.json") == {"seen": {"a": 1}}
        several = program("predict", "birds", "rook.png", "rook.png", "--timings")
        assert several.stdout == "rook.png  rook  0.8750\n" * 2
        assert "run;dur=" in several.stderr
        assert json.loads(program("predict", "birds", "-", given='{"b": 2}').stdout) == {"seen": {"b": 2}}
        message, _ = program.fails("predict", "birds", "--data", "rubbish")
        assert "'birds' refused --data with status 400: no JSON" in message
        shown = program.json("endpoints", "show", "birds")
        assert (shown["tags"], shown["versions"][0]["models"]) == ({"area": "east"}, [{"name": "birds", "version": 1}])
        until(lambda: "I have come up" in program("endpoints", "logs", "birds").stdout)
        assert "birds:1" in program("endpoints", "list").stdout
        assert "Healthy" in program("endpoints", "show", "birds").stdout
        message, _ = program.fails("deploy", "birds", "--script", "score.py")
        assert "already a service with name birds" in message
        program("models", "register", "birds", "--path", "words.json")
        program("endpoints", "update", "birds", "--model", "birds:2", "--auth")
        assert program.json("endpoints", "show", "birds")["versions"][0]["models"] == [{"name": "birds", "version": 2}]
        keys = program.json("endpoints", "keys", "birds")
        anew = program.json("endpoints", "keys", "birds", "--regenerate", "primary")
        assert keys["primary"] != anew["primary"]
        assert keys["secondary"] == anew["secondary"]
        assert program("predict", "birds", "rook.png").stdout == "rook  0.8750\n"
        program("endpoints", "reload", "birds")
        assert program("endpoints", "traffic", "birds", "default=100").stdout.split() == ["default", "100", "%"]
        program("endpoints", "delete", "birds", "--yes")
        message, _ = program.fails("endpoints", "show", "birds")
        assert "Endpoint 'birds' does not exist. Known: none" in message

    def test_what_cannot_be(self, program):
        assert "local, aci, aks" in program.fails("deploy", "birds", "--kind", "cloud", code=2)[0]
        assert "go with --script" in program.fails("deploy", "birds", "--env", "x", code=2)[0]
        assert "does not exist" in program.fails("deploy", "owls")[0]
        assert "Give one or more files" in program.fails("predict", "birds", code=2)[0]
        assert "WebserviceNotFound" in program.fails("predict", "birds", "rook.png")[0]
        assert "cannot be read" in program.fails("predict", "birds", "none.png")[0]
        assert "Give --yes" in program.fails("endpoints", "delete", "birds", code=2)[0]


class TestWithoutCode:
    def test_a_picture_gives_its_label(self, program):
        """An image model as Export to ONNX writes one, small enough to be written here: it tells red from blue."""
        folder = program.folder / "colours"
        folder.mkdir()
        (folder / "model.onnx").write_bytes(red_or_blue())
        (folder / "index_to_label.csv").write_text("index,label\n0,red\n1,blue\n")
        (folder / "preprocessing.json").write_text(
            json.dumps(
                {
                    "input": "images",
                    "output": "scores",
                    "height": 8,
                    "width": 8,
                    "resize_shorter_edge": 8,
                    "center_crop": 8,
                    "mean": [0, 0, 0],
                    "std": [1, 1, 1],
                    "scores_to_probabilities": "softmax",
                }
            )
        )
        for colour in ("red", "blue"):
            Image.new("RGB", (40, 30), colour).save(program.folder / f"{colour}.png")
        program("models", "register", "colours", "--path", "colours", "--framework", "Onnx")
        program("deploy", "colours", "--detach")
        wait_for(program, "colours")
        said = program("predict", "colours", "red.png", "blue.png").stdout.splitlines()
        assert [line.split()[:2] for line in said] == [["red.png", "red"], ["blue.png", "blue"]]
        assert all(float(line.split()[2]) > 0.99 for line in said)
        told = program.json("predict", "colours", "red.png")
        assert told["label"] == "red"
        assert set(told["probabilities"]) == {"red", "blue"}
        assert "refused" in program.fails("predict", "colours", "--data", "rubbish")[0]
        program("endpoints", "delete", "colours", "-y")


def until(holds):
    """What a process prints is on its way for a moment."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.2)


def wait_for(program, name):
    """Until it answers; its environment may have to be built first."""
    deadline = time.monotonic() + 400
    while True:
        shown = program.json("endpoints", "show", name)
        if shown["state"] == "Healthy":
            return
        assert shown["operation"]["state"] == "Running", shown["operation"]
        assert time.monotonic() < deadline, shown["operation"]
        time.sleep(0.5)
