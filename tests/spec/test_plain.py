import json

import pytest

from rookery.errors import RunConfigError, UserError
from rookery.spec.cause import Cause, CauseKind, format_cause
from rookery.spec.job import Job, KeeperAddress, RankJob
from rookery.spec.plain import from_plain, to_plain
from rookery.spec.run import EnvironmentSpec, RunSpec, check_run_spec

SPEC = RunSpec(
    "r1",
    "e",
    script="t.py",
    arguments=("--a", "1"),
    environment=EnvironmentSpec(python="/usr/bin/python3", variables={"A": "b"}),
    tags={"k": None},
)


class TestPlain:
    @pytest.mark.parametrize(
        "value",
        [
            SPEC,
            Job("r", 1, 0, "run", "t", KeeperAddress("/x"), ranks=(RankJob(0, 0, ("a",)),)),
            Cause(CauseKind.USER_ERROR, "x", last_lines=("a", "b")),
        ],
    )
    def test_survives_json(self, value):
        assert from_plain(type(value), json.loads(json.dumps(to_plain(value)))) == value

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"sript": "x"}, "unknown field sript"),
            ({"node_count": "2"}, "node_count: expected int"),
            ({"arguments": "x"}, "expected a list"),
            ({"variables": {"A": 1}}, r"variables\['A'\]"),
            ({"environment": []}, "expected a JSON object"),
        ],
    )
    def test_names_the_field_that_is_wrong(self, change, said):
        with pytest.raises(UserError, match=said):
            from_plain(RunSpec, {**to_plain(SPEC), **change})

    def test_names_a_missing_field(self):
        with pytest.raises(UserError, match="missing field experiment"):
            from_plain(RunSpec, {"run_id": "x"})


class TestRunSpec:
    @pytest.mark.parametrize(
        "change",
        [
            {"script": None},
            {"command": "ls"},
            {"kind": "odd"},
            {"node_count": 0},
            {"max_duration_s": 0},
            {"cancel_grace_s": -1.0},
            {"kind": "interactive"},
            {"kind": "child"},
            {"environment": {"python": ""}},
        ],
    )
    def test_contradictions_are_refused(self, change):
        with pytest.raises(RunConfigError):
            check_run_spec(from_plain(RunSpec, {**to_plain(SPEC), **change}))

    def test_a_good_one_passes(self):
        assert check_run_spec(SPEC) is SPEC


class TestFormatCause:
    def test_says_what_where_and_what_to_try(self):
        text = format_cause(
            Cause(
                CauseKind.USER_ERROR,
                "The script raised ValueError: bad shape.",
                rank=3,
                node=1,
                exit_code=1,
                traceback="Traceback…\nValueError: bad shape\n",
                advice=("look at line 3",),
                log="azureml-logs/70_driver_log_3.txt",
            )
        )
        assert text.splitlines()[0] == "The script raised ValueError: bad shape."
        assert "rank 3, node 1, exit code 1" in text
        assert "Traceback…\nValueError: bad shape" in text
        assert "- look at line 3" in text
        assert text.endswith("azureml-logs/70_driver_log_3.txt")

    def test_shows_the_last_lines_where_there_is_no_traceback(self):
        assert "  b" in format_cause(Cause(CauseKind.USER_ERROR, "x", last_lines=("a", "b")))
