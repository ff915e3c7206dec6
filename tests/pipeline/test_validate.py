"""The validator: every problem has its code, its node, its field and a sentence; all at once."""

from __future__ import annotations

import copy

import pytest

from rookery.pipeline.catalog import built_in_cards, card_from_plain
from rookery.pipeline.samples import sample_pipelines
from rookery.pipeline.steps import check_body
from rookery.pipeline.validate import Known, validate
from rookery.spec.pipeline import new_graph

BIRDS = sample_pipelines()[0]["graph"]


def known(**more):
    return Known(
        built_in_cards(),
        {"local": 1, "pool": 2},
        has_dataset=lambda name, version: "" if name == "birds" else f"Data set '{name}' does not exist.",
        has_model=lambda name, version: "" if name == "net" else f"Model '{name}' does not exist.",
        **more,
    )


def birds(change):
    graph = copy.deepcopy(BIRDS)
    change(graph)
    return validate(graph, known())


def node(name, **values):
    return lambda graph: graph["nodes"][name].update(values)


def source(name, port):
    return {"node": name, "port": port}


class TestProblems:
    def test_none(self):
        assert validate(BIRDS, known()) == []

    @pytest.mark.parametrize(
        ("change", "code", "where", "field", "words"),
        [
            (node("split", parameters={"fraction": 1.5}), "bad_parameter", "split", "fraction", "from 0 to 1"),
            (node("split", parameters={"fracton": 0.5}), "unknown_parameter", "split", "fracton", "Did you mean 'fraction'?"),
            (node("apply1", parameters={}), "missing_parameter", "apply1", "mode", "For training, For inference"),
            (node("convert", inputs={}), "missing_input", "convert", "input_dataset", "not connected"),
            (node("split", inputs={"input_image_directory": source("train", "trained_model")}), "wrong_type", "split", "input_image_directory", "takes ImageDirectory"),
            (node("split", inputs={"input_image_directory": source("convert", "x")}), "unknown_output", "split", "input_image_directory", "has no output 'x'"),
            (node("split", inputs={"input_image_directory": source("gone", "x")}), "unknown_source", "split", "input_image_directory", "not in the pipeline"),
            (node("convert", inputs={"zip": source("pictures", "output_dataset")}), "unknown_input", "convert", "zip", "has no input 'zip'"),
            (node("convert", inputs={"input_dataset": 5}), "shape", "convert", "input_dataset", "Give {node, port}"),
            (node("train", module="train_pytorch_modle"), "unknown_module", "train", "module", "Did you mean 'train_pytorch_model'?"),
            (node("train", kind="wizard"), "unknown_kind", "train", None, "kind 'wizard'"),
            (node("train", run_settings={"compute": "moon"}), "unknown_compute", "train", "compute", "Known: local, pool"),
            (node("train", run_settings={"compute": "pool", "node_count": 3}), "bad_run_settings", "train", "node_count", "2 at most"),
            (node("score", run_settings={"process_count_per_node": 2}), "bad_run_settings", "score", "process_count_per_node", "one process"),
            (node("train", run_settings={"node_count": 0}), "bad_run_settings", "train", "node_count", "from 1"),
            (node("train", parameters={"epochs": {"pipeline_parameter": "epoch"}}), "unknown_pipeline_parameter", "train", "epochs", "It has: epochs, rate"),
            (node("pictures", kind="data", dataset="bird"), "unknown_dataset", "pictures", "dataset", "does not exist"),
            (node("pictures", kind="data", dataset=None), "missing_parameter", "pictures", "dataset", "names no data set"),
            (node("network", kind="model", model="x"), "unknown_model", "network", "model", "does not exist"),
            (lambda g: g.update(version=2), "version", None, None, "version 2"),
            (lambda g: g["parameters"].update(other=5), "bad_pipeline_parameter", None, None, "Give {type, default}"),
            (lambda g: g["parameters"].update(rate={"type": "colour"}), "bad_pipeline_parameter", None, None, "colour"),
            (lambda g: g["parameters"].update(epochs={"type": "integer", "default": "many"}), "bad_pipeline_parameter", None, None, "a whole number"),
            (lambda g: g.update(after=[["a", "split"]]), "unknown_source", None, None, "names 'a'"),
            (lambda g: g.update(after=[["evaluate", "split"]]), "cycle", "split", None, "wait for each other"),
            (lambda g: g.update(default_compute="moon"), "unknown_compute", None, "default_compute", "Known: local, pool"),
            (lambda g: g.update(parametrs={}) or g.pop("parameters"), "unknown_key", None, "parametrs", "Did you mean 'parameters'?"),
            (node("score", run_setings={"compute": "pool"}), "unknown_key", "score", "run_setings", "Did you mean 'run_settings'?"),
            (node("train", run_settings={"computer": "pool"}), "unknown_key", "train", "computer", "Did you mean 'compute'?"),
            (node("train", module=None), "missing_parameter", "train", "module", "names no module"),
            (node("train", version="0.0.1"), "unknown_version", "train", "version", "Leave it out"),
            (node("train", arguments=["x", {"input": "odd"}]), "bad_parameter", "train", "arguments", "the input 'odd'"),
        ],
    )  # fmt: skip
    def test_each(self, change, code, where, field, words):
        found = [p for p in birds(change) if (p.code, p.node, p.field) == (code, where, field)]
        assert len(found) == 1, birds(change)
        assert words in found[0].message

    def test_all_at_once(self):
        def break_it(graph):
            node("split", parameters={"fraction": 2})(graph)
            node("convert", inputs={})(graph)
            node("train", kind="odd")(graph)

        assert {p.code for p in birds(break_it)} == {"bad_parameter", "missing_input", "unknown_kind"}

    def test_all_that_is_wrong_with_a_run_is_told(self):
        graph = new_graph()
        graph["nodes"]["a"] = {
            "kind": "script",
            "run": {"scrpt": "a.py", "node_count": "x", "variables": 5, "compute": 7},
        }
        found = validate(graph, known(check_run=check_body))
        assert {(p.code, p.field) for p in found} == {
            ("unknown_compute", "compute"), ("bad_run", "scrpt"), ("bad_run", "node_count"), ("bad_run", "variables"),
        }  # fmt: skip
        assert "Did you mean 'script'?" in next(p.message for p in found if p.field == "scrpt")
        graph["nodes"]["a"]["run"] = {"script": "a.py", "command": "x"}
        assert [(p.code, p.field) for p in validate(graph, known(check_run=check_body))] == [("bad_run", "run")]

    def test_two_circles_are_both_told(self):
        graph = new_graph()
        for name, before in (("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("e", "a")):
            run, output = {"command": "x"}, {"out": {}}
            graph["nodes"][name] = {
                "kind": "script",
                "run": run,
                "outputs": output,
                "inputs": {"i": source(before, "out")},
            }
        assert [p.node for p in validate(graph, known()) if p.code == "cycle"] == ["a", "c"]

    def test_a_script_that_uses_what_it_is_not_given(self):
        graph = new_graph()
        words = ["--in", "$ROOKERY_INPUT_table", "--out", "${ROOKERY_OUTPUT_net}/x", "$ROOKERY_INPUT_own", "$HOME"]
        run = {"script": "a.py", "arguments": words, "inputs": [{"name": "own", "definition_id": "x"}]}
        graph["nodes"]["a"] = {"kind": "script", "run": run, "inputs": {}, "outputs": {"nett": {}}}
        assert [(p.code, p.node, p.field) for p in validate(graph, known())] == [
            ("missing_input", "a", "table"),
            ("missing_output", "a", "net"),
        ]

    def test_keys_that_nobody_knows_are_kept_without_a_word(self):
        assert birds(lambda graph: (graph.update(mine=1, note="x"), node("train", colour="red")(graph))) == []

    def test_what_was_given_at_submit_is_checked_with_its_values(self):
        assert {p.code for p in validate(BIRDS, known(), {"rate": -1})} == {"bad_parameter"}
        assert {p.code for p in validate(BIRDS, known(), {"nobody": 1})} == {"unknown_pipeline_parameter"}

    @pytest.mark.parametrize(
        "graph", [None, [], {"nodes": 5}, {"nodes": {"a": 1}}, {}, {"nodes": {}, "parameters": 3, "after": [1]}]
    )
    def test_rubbish_is_told_not_raised(self, graph):
        assert validate(graph, known())

    def test_without_a_step_there_is_nothing_to_run(self):
        graph = new_graph()
        graph["nodes"] = {"d": {"kind": "data", "dataset": "birds"}}
        assert [p.code for p in validate(graph, known())] == ["empty"]

    def test_a_placeholder_does_not_make_problems_of_its_neighbours(self):
        found = birds(node("convert", module="somebody_elses"))
        assert [(p.code, p.node) for p in found] == [("unknown_module", "convert")]


class TestCards:
    def test_a_card_of_ones_own(self):
        card = card_from_plain(
            {
                "name": "count_rows",
                "script": "count.py",
                "inputs": {"table": {"types": ["DataFrameDirectory"]}},
                "outputs": [{"name": "report"}],
                "parameters": {
                    "limit": {"kind": "integer", "low": 0, "default": 10},
                    "how": {"kind": "Mode", "choices": ["a", "b"]},
                },
            },
            3,
            "f" * 64,
        )
        assert card.plain["version"] == "3"
        assert card.plain["source"] == "custom"
        assert card.words({"table": "T"}, {"report": "R"}, {"limit": "5"}) == ["--table=T", "--report=R", "--limit=5"]
        assert card.parameters["how"].is_required

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"name": "two words"}, "letters, digits"),
            ({"script": ""}, "names no script"),
            ({"inputs": [{"name": "a", "types": ["Cat"]}]}, "Known: AnyDirectory"),
            ({"inputs": [{"name": "PATH"}]}, "cannot be called 'PATH'"),
            ({"parameters": [{"name": "p", "kind": "Colour"}]}, "Known: Integer"),
            ({"parameters": [{"name": "p", "kind": "Integer", "default": "x"}]}, "a whole number"),
            ({"inputs": [{"name": "a"}], "outputs": [{"name": "a"}]}, "two things called 'a'"),
            ({"inputs": 5}, "Give a list"),
        ],
    )
    def test_what_is_wrong_with_a_card(self, change, words):
        with pytest.raises(Exception, match=words):
            card_from_plain({"name": "mine", "script": "m.py", **change})
