"""From a tuning to the run of a child, and what mattered in the end."""

from __future__ import annotations

import random
from dataclasses import replace

from rookery.spec.run import EnvironmentSpec, RunKind, RunSpec
from rookery.tune.children import child_spec, overridden, with_values
from rookery.tune.importance import importances

PARENT = RunSpec(
    "HD_1", "birds", RunKind.TUNE, script="train.py", arguments=("--epochs", "3", "--lr", "0.5"), plan={"any": 1},
    display_name="search", tags={"a": "b"}, environment=EnvironmentSpec(python="python"), retries_lost_node=2,
)  # fmt: skip


class TestChildSpec:
    def test_is_an_ordinary_run_with_the_values_at_the_end(self):
        child = child_spec(PARENT, 4, {"lr": 0.01, "--batch": 32})
        assert (child.run_id, child.parent_id, child.kind, child.plan) == ("HD_1_4", "HD_1", RunKind.SCRIPT, None)
        assert child.arguments == ("--epochs", "3", "--lr", "0.01", "--batch", "32")
        assert (child.tags, child.retries_lost_node) == ({}, 2)

    def test_the_same_values_give_the_same_spec(self):
        assert child_spec(PARENT, 4, {"lr": 0.1}) == child_spec(PARENT, 4, {"lr": 0.1})

    def test_a_command_gets_them_in_a_shells_words(self):
        parent = RunSpec("HD_1", "birds", RunKind.TUNE, command="python train.py", plan={})
        assert child_spec(parent, 0, {"opt": "a b"}).command == "python train.py --opt 'a b'"

    def test_a_pipeline_gets_them_as_parameters(self):
        pipeline = {"graph": {"nodes": {}}, "parameters": {"lr": 1, "epochs": 3}, "regenerate": True}
        parent = RunSpec("HD_1", "birds", RunKind.TUNE, plan={"pipeline": pipeline}, properties={"a": "b"})
        child = child_spec(parent, 4, {"--lr": 0.1})
        assert (child.run_id, child.parent_id, child.kind) == ("HD_1_4", "HD_1", RunKind.PIPELINE)
        assert child.plan == {"graph": {"nodes": {}}, "parameters": {"lr": 0.1, "epochs": 3}, "regenerate": True}
        assert child.properties == {"a": "b", "rookery.trial": "4"}
        assert overridden(parent, {"--lr": 0, "c": 3}) == ["--lr"]


class TestArguments:
    def test_what_was_given_for_the_same_name_goes(self):
        assert with_values(("--lr", "-1", "x"), {"lr": 2}) == ("x", "--lr", "2")
        assert with_values(("--lr=1", "x"), {"--lr": 2}) == ("x", "--lr", "2")
        assert with_values(("--lr", "--verbose"), {"lr": 2}) == ("--verbose", "--lr", "2")
        assert with_values(("--lrs", "1"), {"lr": 2}) == ("--lrs", "1", "--lr", "2")
        parent = replace(PARENT, arguments=("--lr=1", "--b", "2"))
        assert overridden(parent, {"lr": 0, "--b": 1, "c": 3}) == ["lr", "--b"]

    def test_values_as_texts(self):
        values = {"a": True, "b": None, "c": [1, 2], "d": 1e-5, "-e": "x y"}
        assert with_values((), values) == ("--a", "True", "--b", "None", "--c", "[1, 2]", "--d", "1e-05", "-e", "x y")


class TestImportance:
    def test_what_decides_is_first_and_noise_is_last(self):
        noise = random.Random(1)
        trials = []
        for _ in range(60):
            values = {"lr": noise.random(), "kind": noise.choice(["a", "b"]), "nothing": noise.random()}
            trials.append((values, -abs(values["lr"] - 0.1) + (0.2 if values["kind"] == "a" else 0)))
        found = importances(trials)
        assert found["lr"] > found["kind"] > found["nothing"]
        assert found["nothing"] < 0.1

    def test_too_few_say_nothing(self):
        assert importances([({"a": 1}, 1.0)] * 3) == {}
        assert importances([({"a": 1}, float("nan"))] * 9) == {}

    def test_a_value_that_never_changes_explains_nothing(self):
        assert importances([({"a": 1}, float(i)) for i in range(9)]) == {"a": 0.0}
