"""`rookery pipeline` and `rookery module add` over a real keeper: modules of one's own, in both forms, in a pipeline."""

from __future__ import annotations

import json

import pytest

from rookery.cli.complete import complete_pipeline
from rookery.cli.main import main
from rookery.sdk import PipelineGraph, Workspace

pytestmark = pytest.mark.slow

CARD = """
name: write_word
title: Write a word
inputs: {}
outputs: {words: {types: [AnyDirectory]}}
parameters: {word: {kind: Mode, choices: [hello, goodbye], default: hello}, times: {kind: Integer, low: 1, high: 9, default: 2}}
script: write.py
"""
WRITE = """
import argparse, os
parser = argparse.ArgumentParser()
for name in ("words", "word", "times"):
    parser.add_argument("--" + name)
given = parser.parse_args()
with open(os.path.join(given.words, "words.txt"), "w") as f:
    f.write(" ".join([given.word or "hello"] * int(given.times or 2)))
"""
FUNCTION = """
import os
from typing import Annotated

from rookery_vision.declare import input_port, module, output_port


@module("Count Words", category="My modules", help="How many there are.")
def count_words(
    words: Annotated[str, input_port("Words", "AnyDirectory")],
    report: Annotated[str, output_port("Report", "AnyDirectory")],
) -> None:
    with open(os.path.join(words, "words.txt")) as f, open(os.path.join(report, "count.txt"), "w") as out:
        out.write(str(len(f.read().split())))
"""
FLOW = """
name: words
parameters: {times: {type: integer, default: 3}}
nodes:
  write: {kind: module, module: write_word, parameters: {times: {pipeline_parameter: times}}}
  count: {kind: module, module: count_words, inputs: {words: write.words}}
"""


@pytest.fixture
def place(tmp_path):
    ws = Workspace.create("words")
    (tmp_path / "write").mkdir()
    (tmp_path / "write" / "module.yaml").write_text(CARD)
    (tmp_path / "write" / "write.py").write_text(WRITE)
    (tmp_path / "count").mkdir()
    (tmp_path / "count" / "counting.py").write_text(FUNCTION)
    (tmp_path / "flow.yaml").write_text(FLOW)
    return tmp_path, ["--workspace", ws.client.root]


def test_from_modules_of_ones_own_to_a_published_pipeline(place, capfd):
    folder, where = place
    flow = str(folder / "flow.yaml")

    def call(*words, code=0):
        capfd.readouterr()
        assert main([*words, *where]) == code
        return capfd.readouterr().out

    def answer(*words, code=0):
        return json.loads(call(*words, "--json", code=code))

    problems = answer("pipeline", "validate", flow, code=1)["problems"]
    assert {p["code"] for p in problems} == {"unknown_module"}
    assert answer("module", "add", str(folder / "write"))["version"] == "1"
    assert answer("module", "add", str(folder / "count" / "counting.py"))["name"] == "count_words"
    assert "write_word" in call("module", "list")
    assert "count_words" in call("module", "list")
    assert "no problems" in call("pipeline", "validate", flow)
    assert "out of" not in call("pipeline", "show", flow)
    bad = answer("pipeline", "validate", flow, "--param", "times=20", code=1)["problems"]
    assert bad[0]["code"] == "bad_parameter"
    assert "from 1 to 9" in bad[0]["message"]

    first = answer("pipeline", "run", flow)
    assert {s["status"] for s in first["steps"].values()} == {"Completed"}, first["error"]
    assert first["steps"]["count"]["outputs"]["report"]["files"] == 1
    again = call("pipeline", "run", flow)
    assert "Completed: 2 steps, 2 reused" in again
    assert "the same code, parameters and inputs" in again
    changed = answer("pipeline", "run", flow, "--param", "times=4", "--name", "four")
    assert changed["steps"]["write"]["reuse"] == "not reused: times was 3, is 4"
    assert changed["display_name"] == "four"

    (folder / "write" / "write.py").write_text(WRITE + "# a word of explanation\n")
    assert answer("module", "add", str(folder / "write"))["version"] == "2"
    edited = answer("pipeline", "run", flow)
    assert edited["steps"]["write"]["reuse"].startswith("not reused: the code of write_word changed")
    assert edited["steps"]["count"]["reused_from"], "the same words were written"
    assert "the code of write_word changed" in call("pipeline", "show", edited["run_id"])

    made = answer("pipeline", "publish", flow, "--endpoint", "words")
    assert "/PipelineEndpoints/Id/" in made["endpoint"]
    assert made["version"] == "0"
    assert answer("pipeline", "publish", flow, "--endpoint", "words")["version"] == "1"
    assert answer("module", "remove", "write_word") == {"removed": "write_word"}


def test_a_step_that_failed_is_tried_again(place, capfd):
    folder, where = place
    file = folder / "fail.yaml"
    file.write_text(
        "nodes:\n"
        f"  bad: {{kind: script, title: Bad One, run: {{command: test -e '{folder}/go'}}}}\n"
        "  then: {kind: script, run: {command: 'true'}}\n"
        "after: [[bad, then]]\n"
    )

    def answer(*words, code=0):
        capfd.readouterr()
        assert main(["pipeline", *words, "--json", *where]) == code
        return json.loads(capfd.readouterr().out)

    failed = answer("run", str(file), code=1)
    assert [step["status"] for step in failed["steps"].values()] == ["Failed", "NotStarted"]
    (folder / "go").touch()
    done = answer("retry", failed["run_id"], "Bad One")
    assert [step["status"] for step in done["steps"].values()] == ["Completed", "Completed"]
    capfd.readouterr()
    assert main(["pipeline", "retry", failed["run_id"], *where]) != 0
    assert "nothing to try again" in capfd.readouterr().err


LEARN = """
import argparse, os
parser = argparse.ArgumentParser()
for name in ("data", "model", "dataset", "trained-model", "scored-dataset"):
    parser.add_argument("--" + name)
given = parser.parse_args()
folder = given.model or given.scored_dataset or given.data
with open(os.path.join(folder, "made.txt"), "w") as f:
    f.write("x")
"""
CARDS = {
    "draw": {"outputs": {"data": {"types": ["DataFrameDirectory"]}}},
    "learn": {
        "category": "Model Training",
        "inputs": {"dataset": {}},
        "outputs": {"model": {"types": ["ModelDirectory"]}},
    },
    "score_it": {
        "inputs": {"trained_model": {"types": ["ModelDirectory"]}, "dataset": {}},
        "outputs": {"scored_dataset": {"types": ["DataFrameDirectory"]}},
    },
}
TRAINING = """
name: training
nodes:
  rows: {kind: module, module: draw}
  train: {kind: module, module: learn, inputs: {dataset: rows.data}}
  score: {kind: module, module: score_it, inputs: {trained_model: train.model, dataset: rows.data}}
"""


def test_the_pipeline_that_only_scores_of_a_run_and_of_its_file(place, capfd):
    folder, where = place
    for name, card in CARDS.items():
        (folder / name).mkdir()
        (folder / name / "run.py").write_text(LEARN)
        (folder / name / "module.yaml").write_text(json.dumps({"name": name, "script": "run.py", **card}))
        assert main(["module", "add", str(folder / name), *where]) == 0
    (folder / "training.yaml").write_text(TRAINING)
    file, scoring = str(folder / "training.yaml"), str(folder / "scoring.yaml")

    def call(*words, code=0):
        capfd.readouterr()
        assert main(["pipeline", *words, *where]) == code
        told = capfd.readouterr()
        return told.err if code else told.out

    assert "no completed run" in call("inference", file, code=1)
    run = json.loads(call("run", file, "--json"))
    assert run["status"] == "Completed", run["error"]
    made = json.loads(call("inference", file, "--json"))["graph"]
    assert {key: node["kind"] for key, node in made["nodes"].items()} == {
        "rows": "module",
        "train": "data",
        "score": "module",
    }
    assert [end["node"] for end in made["inference"]["web_service_inputs"]] == ["score"], (
        "a request stands for the rows"
    )
    assert made["nodes"]["train"]["kept"]["run_id"] == run["steps"]["train"]["run_id"]
    assert f"{scoring}: 3 nodes" in call("inference", run["run_id"], "-o", scoring)
    assert PipelineGraph.from_yaml(scoring).graph == made
    assert "kind: batch" in call("inference", run["run_id"], "--kind", "batch")
    assert "real-time inference pipeline, not a batch one" in call("inference", scoring, "--kind", "batch", code=1)
    assert "module of your own" in call("inference", scoring, "--deploy", "birds", code=1)


def test_tab_offers_the_files_there_are(place, monkeypatch):
    monkeypatch.chdir(place[0])
    assert complete_pipeline(None, "fl") == [("flow.yaml", "file")]
    assert complete_pipeline(None, "write/") == [("write/module.yaml", "file")]
    assert complete_pipeline(None, "nowhere/x") == []


BAD = """
name: bad
default_compute: moon
nodes:
  write: {kind: module, module: write_wrod}
  split:
    kind: module
    module: split_image_directory
    parameters: {fraction: 7}
    inputs: {input_image_directory: net.untrained_model}
  net: {kind: module, module: resnet, run_settings: {compute: mars}}
  convert: {kind: module, module: convert_to_image_directory}
  a: {kind: script, run: {command: x}, inputs: {i: b.o}, outputs: {o: {}}, regenarate: true, colour: red}
  b: {kind: script, run: {command: x}, inputs: {i: a.o}, outputs: {o: {}}}
  s: {kind: script, run: {script: x.py}, source_directory: nowhere}
"""


def test_all_that_is_wrong_with_a_file_is_told_at_once(place, capfd):
    folder, where = place
    file = folder / "bad.yaml"

    def problems(text):
        file.write_text(text)
        capfd.readouterr()
        assert main(["pipeline", "validate", str(file), "--json", *where]) == 1
        return json.loads(capfd.readouterr().out)

    found = problems(BAD)
    assert {(p["code"], p["node"], p["line"]) for p in found["problems"]} == {
        ("unknown_compute", None, None), ("unknown_module", "write", 5), ("bad_parameter", "split", 6), ("wrong_type", "split", 6),
        ("unknown_compute", "net", 11), ("missing_input", "convert", 12), ("cycle", "a", 13), ("unknown_key", "a", 13),
        ("bad_source", "s", 15),
    }  # fmt: skip
    assert found["unread_keys"] == [{"node": "a", "key": "colour", "line": 13}]
    assert main(["pipeline", "validate", str(file), *where]) == 1
    shown = capfd.readouterr()
    assert "convert (line 12): Input 'Input dataset' of 'convert' is not connected" in shown.out
    assert "9 problems" in shown.err
    assert main(["pipeline", "run", str(file), *where]) == 1
    told = capfd.readouterr()
    assert "source_directory 'nowhere'" in told.out
    assert "9 problems" in told.err
    for text, words in (
        ("nodes: [", "not valid YAML, line 1"),
        ("", "no `nodes`"),
        ("just words", "no `nodes`"),
        ("nodes: {}", "no nodes"),
        ("nodes:\n  a: {kind: data}\n  a: {kind: data}\n", "lines 2, 3"),
        ("version: 7\nnodes: {}", "version 7"),
        ("nodes:\n  a: {kind: wizard}", "kind 'wizard'"),
    ):
        assert words in problems(text)["problems"][0]["message"]
    assert main(["pipeline", "validate", str(folder / "gone.yaml"), *where]) != 0
    assert "cannot be read" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nothing", None, "no folder"),
        ("empty", "", "no module.yaml"),
        ("plain.py", "x = 1\n", "declares no module"),
        ("broken.py", "import nobody_has_this\n", "cannot be read"),
    ],
)
def test_what_is_no_module(place, capfd, name, text, words):
    folder, where = place
    if text == "":
        (folder / name).mkdir()
    elif text is not None:
        (folder / name).write_text(text)
    assert main(["module", "add", str(folder / name), *where]) != 0
    assert words in capfd.readouterr().err
