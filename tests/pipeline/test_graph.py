"""The graph as data: order, cycles, parameters; YAML and Python both ways without loss."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.errors import UserError
from rookery.pipeline.code import graph_to_python
from rookery.pipeline.samples import sample_pipelines
from rookery.spec.pipeline import dependencies, find_cycle, fits, in_order, new_graph, parameter_values, substitute
from rookery.spec.pipeline_file import node_lines
from rookery.spec.pipeline_yaml import graph_from_yaml, graph_to_yaml

# The machine may be busy, and a test must not depend on luck: no deadline, and the same examples every time.
QUIET = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), max_examples=150)

_names = st.text("abc_-ü .", min_size=1, max_size=6)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_sources = st.fixed_dictionaries({"node": _names, "port": _names}) | st.none() | st.integers()
_nodes = st.dictionaries(st.text(max_size=8), _values, max_size=4).flatmap(
    lambda node: st.dictionaries(_names, _sources, max_size=3).map(lambda inputs: {**node, "inputs": inputs})
)


@st.composite
def graphs(draw):
    graph = new_graph(draw(st.text(min_size=1, max_size=10)))
    graph["nodes"] = draw(st.dictionaries(_names, _nodes, max_size=4))
    graph["layout"] = draw(st.dictionaries(_names, _values, max_size=2))
    graph.update(draw(st.dictionaries(st.sampled_from(["mine", "x y", "später"]), _values, max_size=2)))
    return graph


def chain(*pairs):
    graph = new_graph()
    for node, before in pairs:
        graph["nodes"][node] = {
            "kind": "script",
            "inputs": {f"i{n}": {"node": b, "port": "o"} for n, b in enumerate(before)},
        }
    return graph


class TestOrder:
    def test_each_comes_after_those_before_it(self):
        graph = chain(("d", "bc"), ("b", "a"), ("c", "a"), ("a", ""))
        assert in_order(graph) == ["a", "b", "c", "d"]
        assert dependencies(graph)["d"] == ("b", "c")

    def test_order_without_data_counts_and_unknown_nodes_do_not(self):
        graph = chain(("a", ""), ("b", "z"))
        graph["after"] = [["b", "a"], ["b", "nobody"], "rubbish"]
        assert in_order(graph) == ["b", "a"]

    def test_a_cycle_is_named_in_its_order(self):
        graph = chain(("a", "c"), ("b", "a"), ("c", "b"), ("d", "c"))
        loop = find_cycle(graph)
        assert loop[0] == loop[-1]
        assert set(loop) == {"a", "b", "c"}
        assert loop[loop.index("a") + 1 :][:1] in (["b"], [])
        assert find_cycle(chain(("a", ""), ("b", "a"))) == []


class TestParameters:
    def test_text_becomes_what_it_is(self):
        graph = new_graph()
        graph["parameters"] = {
            "n": {"type": "integer", "default": 1},
            "x": {"type": "number", "default": 1},
            "b": {"type": "boolean", "default": False},
            "s": {"type": "string", "default": None},
        }
        assert parameter_values(graph, {"n": "7", "x": "0.5", "b": "true", "s": 3}) == {
            "n": 7,
            "x": 0.5,
            "b": True,
            "s": "3",
        }
        assert parameter_values(graph) == {"n": 1, "x": 1, "b": False, "s": None}

    @pytest.mark.parametrize(
        ("name", "value"), [("n", "1.5"), ("n", True), ("x", "much"), ("b", "maybe"), ("s", {"a": 1})]
    )
    def test_what_it_is_not_is_refused(self, name, value):
        graph = new_graph()
        kinds = {"n": "integer", "x": "number", "b": "boolean", "s": "string"}
        graph["parameters"] = {name: {"type": kinds[name], "default": None}}
        with pytest.raises(UserError, match=f"Parameter '{name}'"):
            parameter_values(graph, {name: value})

    def test_an_unknown_one_is_refused_with_those_there_are(self):
        with pytest.raises(UserError, match="has no parameter 'rat'"):
            parameter_values(new_graph(), {"rat": 1})

    def test_they_are_filled_in_everywhere(self):
        data = {"a": [{"pipeline_parameter": "x"}, 1], "b": {"c": {"pipeline_parameter": "y"}}}
        assert substitute(data, {"x": 5, "y": [1]}) == {"a": [5, 1], "b": {"c": [1]}}


class TestTypes:
    def test_what_fits(self):
        assert fits(["A"], ["A", "B"])
        assert fits(["AnyDirectory"], ["B"])
        assert fits(["A"], ["AnyDirectory"])
        assert not fits(["A"], ["B"])


class TestForms:
    @QUIET
    @given(graphs())
    def test_yaml_and_back(self, graph):
        assert graph_from_yaml(graph_to_yaml(graph)) == graph

    def test_python_and_back_of_numbers_that_are_names(self):
        graph = {**new_graph(), "mine": [float("inf"), {"x": float("-inf")}]}
        found: dict = {"__name__": "made"}
        exec(compile(graph_to_python(graph), "made.py", "exec"), found)
        assert found["build"]().graph == graph
        assert graph_from_yaml(graph_to_yaml(graph)) == graph

    @QUIET
    @given(graphs())
    def test_python_and_back(self, graph):
        graph = json.loads(json.dumps(graph))
        found: dict = {"__name__": "made"}
        exec(compile(graph_to_python(graph), "made.py", "exec"), found)
        assert found["build"]().graph == graph

    @pytest.mark.parametrize("sample", sample_pipelines(), ids=lambda s: s["name"])
    def test_samples(self, sample):
        text = graph_to_yaml(sample["graph"])
        assert "scored_dataset: score.scored_dataset" in text
        assert graph_from_yaml(text) == sample["graph"]

    @pytest.mark.parametrize(
        ("text", "words"), [("[1]", "no `nodes`"), ("nodes: {}\nversion: 9", "version 9"), ("a: [", "not valid YAML")]
    )
    def test_what_is_no_pipeline(self, text, words):
        with pytest.raises(UserError, match=words):
            graph_from_yaml(text)

    def test_keys_that_are_written_twice_are_all_told_with_their_lines(self):
        text = "nodes:\n  a: {kind: data}\n  b:\n    inputs: {x: a.o}\n    inputs: {}\n  a:\n    kind: model\nname: x\nname: y\n"
        with pytest.raises(UserError, match=r"'a' is written 2 times below `nodes`: lines 2, 6") as caught:
            graph_from_yaml(text)
        found = {(p["node"], p["field"]) for p in caught.value.details["problems"]}
        assert found == {("a", "a"), ("b", "inputs"), (None, "name")}
        assert node_lines(text) == {"a": 6, "b": 3}
        assert node_lines("a: [") == {}

    def test_what_json_does_not_know_becomes_text(self):
        graph = graph_from_yaml("nodes:\n  1: {parameters: {day: 2026-11-16, yes: 2}}\n")
        assert json.loads(json.dumps(graph))["nodes"] == {"1": {"parameters": {"day": "2026-11-16", "true": 2}}}

    def test_what_is_missing_is_filled_in(self):
        assert graph_from_yaml("nodes: {}") == {"nodes": {}, "version": 1, "name": "pipeline"}
