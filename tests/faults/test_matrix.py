"""The fault matrix: kind of fault × rank × node × launcher. In every case the rank that broke is named, with its cause, the others are
gone at once and nothing is left behind."""

from __future__ import annotations

import concurrent.futures
import itertools
import os

import pytest

from rookery.engine.payload import ensure_payload
from rookery.spec.paths import WorkspacePaths
from tests.faults.gang import Case, Result, play

pytestmark = pytest.mark.slow
GONE_WITHIN_S = 25.0  # 1 s is the promise, and measured elsewhere; by themselves they would stay for a minute
AT_ONCE = 3

# fault → what it is called (None: nothing that has a name), words of the summary, signal or exit code
KINDS = {
    "exception": ("", "RuntimeError: bad shape (3, 4)", 1),
    "exit_code": ("", "exit code 3", 3),
    "exit_text": ("", "SystemExit: no data", 1),
    "os_exit": ("", "exit code 4", 4),
    "killed": ("killed", "killed", "SIGKILL"),
    "terminated": ("terminated", "asked to end", "SIGTERM"),
    "interrupted": ("interrupted", "interrupted", "SIGINT"),
    "segmentation_fault": ("segmentation_fault", "segmentation fault", "SIGSEGV"),
    "aborted": ("aborted", "aborted", "SIGABRT"),
    "missing_module": ("missing_module", "no_such_module_here", 1),
    "out_of_memory": ("out_of_memory", "MemoryError", 1),
    "gpu_out_of_memory": ("gpu_out_of_memory", "CUDA out of memory", 1),
    "disk_full": ("disk_full", "No space left on device", 1),
    "port_in_use": ("port_in_use", "Address already in use", 1),
    "nccl_without_cuda": ("nccl_without_cuda", "needs CUDA", 1),
    "nccl_setup": ("nccl_setup", "ncclInternalError", 1),
    "collective_mismatch": ("collective_mismatch", "same code path", 1),
    "file_not_found": ("file_not_found", "no/such/data.csv", 1),
    "permission": ("permission", "/data/set", 1),
    "wrong_arguments": ("wrong_arguments", "required: --epochs", 2),
    "shared_library": ("shared_library", "libGL.so.1", 1),
    "torch_misfit": ("torch_misfit", "torchvision", 1),
    "slow_death": ("", "ValueError: bad label", 1),
    "slow_exit": ("", "ValueError: bad label", 1),
    "early_end": ("different_code_paths", "same code path", 0),
    "script_not_found": ("script_not_found", "no_such.py", 2),
    "command_not_found": ("command_not_found", "/no/such/python", None),
    "time_limit": ("time_limit", "time limit of 1 s", None),
    "stalled": ("stalled", "stuck_in_loading", None),
}
ALONE = ("early_end", "slow_death", "slow_exit", "stalled")  # need peers
NOT_BELOW_A_LAUNCHER = ("script_not_found", "command_not_found", "time_limit")


def cases() -> list[Case]:
    """Ranks go round, so that every kind is met by another one in every column."""
    found = [Case(kind, 0, 1, 1, "none") for kind in KINDS if kind not in ALONE]
    turn = itertools.cycle((3, 0, 2, 1))
    found += [Case(kind, next(turn), 2, 2) for kind in KINDS if kind not in ("time_limit", "stalled")]
    turn = itertools.cycle((1, 3, 0, 2))
    found += [
        Case(kind, next(turn), 2, 2, "per_node")
        for kind in KINDS
        if kind not in (*NOT_BELOW_A_LAUNCHER, "stalled", "slow_death")
    ]
    found += [Case(kind, rank, 1, 3) for kind, rank in (("exception", 2), ("segmentation_fault", 1), ("stalled", 1))]
    found += [Case("killed", 1, 1, 3, stubborn=True), Case("exception", 0, 2, 2, stubborn=True)]
    found += [Case("stalled", 0, 1, 3, "per_node"), Case("stalled", 2, 1, 3)]
    return found


CASES = cases()


@pytest.fixture(scope="module")
def results(tmp_path_factory, request):
    """Plays the chosen cases, a few at once."""
    payload = ensure_payload(WorkspacePaths(str(tmp_path_factory.mktemp("payload"))))
    chosen = [
        item.callspec.params["case"]
        for item in request.session.items
        if "case" in getattr(item, "callspec", _NONE).params
    ]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        yield {case: pool.submit(play, case, payload, CASES.index(case)) for case in chosen if case in CASES}


class _NONE:
    params: dict[str, object] = {}


class TestMatrix:
    def test_has_sixty_cases(self):
        assert len(set(CASES)) == len(CASES) >= 60
        assert {case.launcher for case in CASES} == {"none", "per_process", "per_node"}

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_names_the_first(self, case, results):
        result: Result = results[case].result(timeout=200)
        cause = result.cause
        fault, words, how = KINDS[case.fault]
        assert result.left == []
        assert (cause["fault"], cause["rank"]) == (fault, None if case.fault == "time_limit" else case.rank), cause
        assert words in cause["summary"] or words in str(cause["exception"]), cause["summary"]
        if case.fault not in ("time_limit", "early_end"):
            assert cause["node"] == case.rank // case.per_node
        if isinstance(how, str):
            assert cause["signal"] == how, cause
        else:
            assert cause["exit_code"] == how, cause
        if fault and fault not in ("terminated", "interrupted"):
            assert cause["advice"], cause
        if case.fault == "segmentation_fault":
            assert "crash_in_compiled_code" in cause["traceback"]
        if case.launcher == "per_node" and case.fault not in ("early_end", "stalled"):
            assert cause["log"] == f"azureml-logs/70_driver_log_{case.rank}.txt", cause
        if cause["time"]:
            assert result.ended - cause["time"] < GONE_WITHIN_S
        if case.fault == "stalled":
            stacks = [name for name in result.logs if name.startswith("azureml-logs/stacks/")]
            assert sorted(stacks) == [f"azureml-logs/stacks/rank_{n}.txt" for n in range(3)]
            assert os.path.basename(f"rank_{case.rank}.txt") in stacks[case.rank]
            assert "stuck_in_loading" in result.logs[f"azureml-logs/stacks/rank_{case.rank}.txt"]
            assert "all_reduce" in cause["summary"]
