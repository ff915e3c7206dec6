"""`rookery pipeline` and `rookery module add` over a real keeper: modules of one's own, in both forms, in a pipeline."""

from __future__ import annotations

import json

import pytest

from rookery.cli.main import main
from rookery.sdk import Workspace

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
