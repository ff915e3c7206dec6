"""Bayesian sampling with the real Optuna, in an environment that is built for it."""

from __future__ import annotations

import os
import signal

import pytest

from rookery.errors import ServiceError
from rookery.tune.bayesian import asker
from rookery.tune.view import show_tuning

pytestmark = pytest.mark.slow

SPACE = {"lr": ["uniform", [0, 1]], "net": ["choice", [["a", [1, 2]]]], "width": ["quniform", [0, 100, 16]]}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter with Optuna, as a keeper gets one."""
    before = os.environ.get("ROOKERY_HOME")
    os.environ["ROOKERY_HOME"] = str(tmp_path_factory.mktemp("optuna"))
    try:
        yield asker.find_interpreter("a-test")
    finally:
        os.environ.pop("ROOKERY_HOME")
        if before is not None:
            os.environ["ROOKERY_HOME"] = before


@pytest.fixture
def asking(python, monkeypatch):
    monkeypatch.setattr(asker, "find_interpreter", lambda holder: python)
    made = asker.Asker("a-test")
    yield made
    made.close()


def question(trials=(), count=1, seed=3, goal="maximize"):
    return {"space": SPACE, "goal": goal, "seed": seed, "count": count, "trials": list(trials)}


def told(values, result, is_live=False):
    return {"values": values, "result": result, "is_live": is_live}


class TestAsker:
    def test_values_are_of_the_space(self, asking):
        for values in asking.ask(question(count=12)):
            assert 0 <= values["lr"] <= 1
            assert values["net"] in ("a", [1, 2])
            assert values["width"] in range(0, 113, 16)

    def test_the_same_question_has_the_same_answer(self, asking):
        history = [told(values, values["lr"]) for values in asking.ask(question(count=15))]
        first = asking.ask(question(history, 3))
        assert asking.ask(question(history, 3)) == first
        assert asking.ask(question(history, 3, seed=4)) != first

    @pytest.mark.parametrize(("goal", "sign"), [("maximize", -1), ("minimize", 1)])
    def test_it_learns_from_what_came_out(self, asking, goal, sign):
        history = []
        for seed in range(40):
            (values,) = asking.ask(question(history, seed=seed, goal=goal))
            history.append(told(values, sign * (values["lr"] - 0.3) ** 2))
        early = sum(abs(trial["values"]["lr"] - 0.3) for trial in history[:10])
        late = sum(abs(trial["values"]["lr"] - 0.3) for trial in history[-10:])
        assert late < early * 0.7

    def test_what_runs_failed_or_is_of_another_space_does_no_harm(self, asking):
        history = [
            told({"lr": 0.5, "net": "a", "width": 16}, None, is_live=True),
            told({"lr": 0.5, "net": "a", "width": 16}, None),
            told({"lr": 0.5, "net": "gone", "width": 16}, 0.4),
            told({"lr": 7.0, "net": "a", "width": 112}, 0.4),
            told({"momentum": 0.5}, 0.4),
        ]
        assert len(asking.ask(question(history, 2))) == 2

    def test_a_killed_process_is_replaced(self, asking):
        first = asking.ask(question())
        os.kill(asking._process.pid, signal.SIGKILL)
        asking._process.wait()
        assert asking.ask(question()) == first

    def test_nonsense_is_an_error_with_its_reason(self, asking):
        with pytest.raises(ServiceError, match="KeyError"):
            asking.ask({"space": SPACE})


class TestTuning:
    def test_children_follow_each_other(self, bench, python, monkeypatch):
        monkeypatch.setattr(asker, "find_interpreter", lambda holder: python)
        bench.submit(sampler="bayesian", max_total_runs=6, max_concurrent_runs=2)
        for number in range(6):
            child = f"HD_1_{number}"
            bench.until(lambda child=child: child in bench.children())
            bench.log(child, number / 10)
            if number == 3:
                bench.restart()
            bench.end(child)
        bench.until(lambda: bench.status() == "Completed")
        values = [trial["parameters"]["lr"] for trial in show_tuning(bench.record, "HD_1")["trials"]]
        assert len(set(values)) == 6

    def test_without_optuna_it_says_so(self, bench, monkeypatch):
        def fails(holder):
            raise ServiceError("optuna cannot be had: no network")

        monkeypatch.setattr(asker, "find_interpreter", fails)
        bench.submit(sampler="bayesian", max_total_runs=6)
        bench.until(lambda: bench.status() == "Failed")
        assert "no network" in bench.record.runs.get("HD_1")["error"]["summary"]
