"""`rookery tune`: what is typed, what a file says, and the whole of it with a real keeper."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from rookery.cli.submission import Request
from rookery.cli.tune_file import TuneRequest, build_tune_config, read_tune_file
from rookery.cli.tune_view import headline, leader_board
from rookery.errors import TuneConfigError, UserError
from rookery.sdk.tune_text import make_sampling, parse_distribution, parse_policy

TRAINS = """
import sys
from azureml.core import Run
lr = float(sys.argv[sys.argv.index("--lr") + 1])
Run.get_context().log("loss", abs(lr - 0.3))
"""


class TestTyped:
    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("uniform(0, 1)", ["uniform", [0, 1]]),
            (" loguniform( -7 , -2.5 ) ", ["loguniform", [-7, -2.5]]),
            ("choice(16, 32)", ["choice", [[16, 32]]]),
            ("choice(['a', 'b'])", ["choice", [["a", "b"]]]),
            ("quniform(min_value=0, max_value=9, q=3)", ["quniform", [0, 9, 3]]),
            ([1, 2], ["choice", [[1, 2]]]),
            (0.5, ["choice", [[0.5]]]),
        ],
    )
    def test_distributions(self, text, made):
        assert parse_distribution(text, "lr") == made

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("unifrm(0, 1)", "Did you mean uniform?"),
            ("uniform(0)", "lr: 'uniform\\(0\\)'"),
            ("uniform(0, __import__('os'))", "cannot be read"),
            ("0.1..0.9", "cannot be read"),
            ("uniform(1, 0)", "min_value must be below max_value"),
            ("uniform(0", "put it in quotes"),
            ("adam", "stays the same is choice\\('adam'\\)"),
        ],
    )
    def test_what_is_none_says_so(self, text, words):
        with pytest.raises(TuneConfigError, match=words):
            parse_distribution(text, "lr")

    def test_policies(self):
        bandit = parse_policy("bandit(slack_factor=0.1, delay_evaluation=5)")
        assert (bandit.slack_factor, bandit.delay_evaluation, bandit.evaluation_interval) == (0.1, 5, 1)
        assert parse_policy("median").to_json()["name"] == "MedianStopping"
        for text, words in (("bandt", "Did you mean bandit"), ("bandit(0.1)", "by name"), ("median(slack=1)", "slack")):
            with pytest.raises(TuneConfigError, match=words):
                parse_policy(text)

    def test_samplers(self):
        assert make_sampling("sobol", {"lr": ["uniform", [0, 1]]}, 3).to_json()["properties"] == {
            "seed": 3,
            "rule": "sobol",
        }
        with pytest.raises(TuneConfigError, match="Known: random, sobol, grid, bayesian"):
            make_sampling("genetic", {})


class TestFile:
    def test_says_all_of_it(self, tmp_path):
        (tmp_path / "train.py").write_text("pass\n")
        (tmp_path / "t.yaml").write_text(
            "script: train.py\narguments: [--epochs, 3]\nmetric: loss\ngoal: minimize\nparameters: {lr: 'uniform(0, 1)', b: [1, 2]}\n"
            "policy: {kind: truncation, truncation_percentage: 20}\nmax_total_runs: 7\nsampler: sobol\nseed: 3\nmax_duration_minutes: 5\n"
        )
        request = read_tune_file(str(tmp_path / "t.yaml"))
        assert (request.run.folder, request.run.arguments) == (str(tmp_path), ("--epochs", "3"))
        plan = build_tune_config(request).plan()
        assert (plan.goal, plan.policy, plan.rule, plan.seed, plan.max_total_runs, plan.max_duration_minutes) == (
            "minimize", "truncation", "sobol", 3, 7, 5.0,
        )  # fmt: skip
        assert plan.space == {"lr": ["uniform", [0, 1]], "b": ["choice", [[1, 2]]]}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[1]", "holds no mapping"),
            ("skript: a.py", "'skript' is not known. Did you mean script\\? Known: script"),
            ("max_total_runs: many", "max_total_runs is 'many', which is no whole number"),
            ("script: true", "script is True, which is no text"),
        ],
    )
    def test_what_it_cannot_say(self, tmp_path, text, words):
        (tmp_path / "t.yaml").write_text(text)
        with pytest.raises(UserError, match=words):
            read_tune_file(str(tmp_path / "t.yaml"))

    def test_a_tuning_needs_a_metric_and_parameters(self, tmp_path):
        with pytest.raises(TuneConfigError, match="parameter space is empty"):
            build_tune_config(TuneRequest(Request(str(tmp_path), "a.py"), metric="loss"))


class TestShown:
    def test_the_best_first_and_why_some_were_stopped(self):
        trial = {
            "status": "Completed",
            "stopped": "",
            "last": 0.5,
            "intervals": 1,
            "duration_s": 2.0,
            "parameters": {"--lr": 0.1},
        }
        tuning = {
            "status": "Running", "metric": "accuracy", "max_total_runs": 9, "space": {"--lr": []}, "trials": [
                {**trial, "number": 0, "run_id": "HD_0", "rank": None, "best": None},
                {**trial, "number": 1, "run_id": "HD_1", "rank": 2, "best": 0.5, "stopped": "Bandit"},
                {**trial, "number": 2, "run_id": "HD_2", "rank": 1, "best": 0.75, "status": "Running"},
            ],
        }  # fmt: skip
        columns, rows = leader_board(tuning, 10)
        assert [row[1] for row in rows] == ["HD_2", "HD_1", "HD_0"]
        assert "lr" in [column.title for column in columns]
        assert [row[1] for row in leader_board(tuning, 2, is_short=True)[1]] == ["_2", "_1"]
        assert headline(tuning) == "Running: 2 of 9 children ended, 1 under way, 1 stopped early; best accuracy 0.75"


class TestForReal:
    @pytest.fixture
    def folder(self, tmp_path):
        made = tmp_path / "project"  # beside the test's home, which is no part of it
        made.mkdir()
        (made / "train.py").write_text(TRAINS)
        return made

    def rookery(self, folder, *arguments):
        done = subprocess.run(
            [sys.executable, "-m", "rookery.cli.main", *arguments], cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True,
            text=True, timeout=250, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    @pytest.mark.slow
    def test_from_a_line_to_the_best(self, folder):
        code, out, err = self.rookery(
            folder,
            "tune",
            "-p",
            "lr=uniform(0,1)",
            "--minimize",
            "loss",
            "-n",
            "3",
            "--concurrent",
            "2",
            "--seed",
            "7",
            "train.py",
        )
        assert code == 0, err
        assert "Completed: 3 of 3 children ended, 0 under way; best loss" in out
        code, out, err = self.rookery(folder, "show", "@last", "--json")
        shown = json.loads(out)
        assert (shown["kind"], len(shown["tuning"]["trials"]), len(shown["children"])) == ("tune", 3, 3)
        best = min(shown["tuning"]["trials"], key=lambda trial: trial["best"])
        assert shown["tuning"]["best"] == best["run_id"]

    def test_nothing_is_submitted_that_makes_no_sense(self, folder):
        code, _, err = self.rookery(folder, "tune", "-p", "lr=uniform(0,1)", "train.py")
        assert code == 2
        assert "--maximize METRIC" in err
        code, out, err = self.rookery(
            folder, "tune", "--dry-run", "--json", "-p", "lr=uniform(0,1)", "--maximize", "acc", "train.py"
        )
        assert (code, json.loads(out)["plan"]["metric"]) == (0, "acc"), err
