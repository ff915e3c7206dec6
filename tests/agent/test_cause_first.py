"""Which failure was first: pure, from traces to one process, from causes to one cause."""

from __future__ import annotations

import pytest

from rookery.agent.cause import Evidence, explain_first, explain_rank
from rookery.agent.cause_first import Process, first_process, is_collateral, read_launcher
from rookery.agent.cause_known import faults, recognise
from rookery.agent.process import RankEnd

TORCHRUN = """
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-15_21:00:01
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 10)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-15_21:00:00
  host      : here
  rank      : 3 (local_rank: 1)
  exitcode  : -11 (pid: 13)
  error_file: <N/A>
  traceback : Signal 11 (SIGSEGV) received by PID 13
"""
CLOSED = "[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:1"


def recorded(kind, message, time):
    return {"type": kind, "message": message, "traceback": "", "time": time}


class TestCollateral:
    @pytest.mark.parametrize(
        "text",
        [
            f"RuntimeError: {CLOSED}",
            "torch.distributed.DistBackendError: NCCL error … ncclRemoteError: A call failed possibly due to a network error",
            "torch.distributed.DistNetworkError: failed to recv, got 0 bytes",
            "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused by an exception",
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED",
            "ConnectionResetError: [Errno 104] Connection reset by peer",
            "BrokenPipeError: [Errno 32] Broken pipe",
        ],
    )
    def test_knows_the_words_of_those_that_lost_a_peer(self, text):
        assert is_collateral(text)

    @pytest.mark.parametrize(
        "text",
        [
            "RuntimeError: bad shape",
            "RuntimeError: CUDA out of memory",
            "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
            "OSError: [Errno 98] Address already in use",
            "ModuleNotFoundError: No module named 'x'",
        ],
    )
    def test_leaves_the_others(self, text):
        assert not is_collateral(text)


class TestFirstProcess:
    def test_the_ranks_own_exception_comes_before_its_helpers(self):
        helper = Process(2, record=recorded("ValueError", "caught", 1.0))
        own = Process(1, record=recorded("KeyError", "x", 5.0))
        assert first_process([helper, own], 1) is own

    def test_a_launchers_child_comes_before_the_launcher(self):
        launcher = Process(1, record=recorded("torch.ChildFailedError", TORCHRUN, 9.0))
        victim = Process(10, 0, record=recorded("RuntimeError", CLOSED, 4.0))
        broken = Process(12, 2, record=recorded("ValueError", "bad", 5.0))
        assert first_process([launcher, victim, broken], 1) is broken

    def test_the_launchers_word_counts_for_a_child_that_left_nothing(self):
        launcher = Process(1, record=recorded("torch.ChildFailedError", TORCHRUN, 9.0))
        victim = Process(10, 0, record=recorded("RuntimeError", CLOSED, 4.0))
        dead = Process(13, 3)
        assert first_process([launcher, victim, dead], 1) is dead

    def test_what_came_after_the_stop_does_not_count(self):
        early, late = Process(2, record=recorded("A", "", 1.0)), Process(3, record=recorded("B", "", 0.5))
        assert first_process([early, late], 1, until=0.7) is late

    def test_a_child_that_a_launcher_killed_is_not_the_first(self):
        victim = Process(10, 0, record=recorded("RuntimeError", CLOSED, 4.0), gone_time=4.1, parent=9)
        killed = Process(11, 1, gone_time=4.2, parent=9)
        assert first_process([victim, killed], 9) is victim
        assert first_process([victim, Process(11, 1, gone_time=4.0, parent=9)], 9).pid == 11

    def test_forked_workers_are_never_called_killed(self):
        assert first_process([Process(5, 0, forked=True, gone_time=1.0)], 1) is None

    def test_a_launchers_own_exit_code_is_nobodys(self):
        launcher = Process(9, exit_code=1, exit_time=3.0, left=True)
        child = Process(10, 0, exit_code=2, exit_time=4.0, left=True, parent=9)
        assert first_process([launcher, child], 8) is child


class TestLauncherWords:
    def test_torchrun(self):
        said = read_launcher(TORCHRUN)
        assert (said.rank, said.pid, said.exit_code, said.signal) == (3, 13, None, 11)

    def test_mpirun(self):
        said = read_launcher("mpirun noticed that process rank 1 with PID 4711 on node n0 exited on signal 9 (Killed).")
        assert (said.rank, said.pid, said.signal) == (1, 4711, 9)

    def test_nothing(self):
        assert read_launcher("all is well") is None


class TestExplainFirst:
    def end(self, rank, kind, message, time):
        return Evidence(RankEnd(rank, rank, exit_code=1), recorded=recorded(kind, message, time), time=time)

    def test_a_real_exception_comes_before_an_earlier_lost_peer(self):
        cause = explain_first([self.end(0, "RuntimeError", CLOSED, 1.0), self.end(1, "ValueError", "bad", 2.0)])
        assert (cause.rank, cause.exception, cause.collateral) == (1, "ValueError: bad", False)

    def test_the_earliest_of_several(self):
        cause = explain_first([self.end(0, "ValueError", "late", 2.0), self.end(1, "ValueError", "early", 1.0)])
        assert cause.rank == 1

    def test_only_lost_peers_and_one_that_ended_well(self):
        cause = explain_first([self.end(0, "RuntimeError", CLOSED, 1.0)], ended_well=[2])
        assert (cause.rank, cause.fault, cause.exit_code) == (2, "different_code_paths", 0)
        assert "rank 0 still waited" in cause.summary

    def test_only_lost_peers(self):
        cause = explain_first([self.end(0, "RuntimeError", CLOSED, 1.0)])
        assert (cause.rank, cause.collateral) == (0, True)

    def test_an_abort_after_a_lost_peer_is_collateral(self):
        aborted = Evidence(RankEnd(0, 1, signal=6), tail=f"terminate called\n  what(): {CLOSED}\n")
        assert explain_rank(aborted).collateral
        assert not explain_rank(Evidence(RankEnd(0, 1, signal=6), tail="terminate called\n")).collateral


class TestKnown:
    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("RuntimeError: Distributed package doesn't have NCCL built in", "nccl_without_cuda"),
            ("ncclSystemError: System call failed", "nccl_setup"),
            ("RuntimeError: [enforce fail at op.cc] op.preamble.length <= op.nbytes. 8 vs 4", "collective_mismatch"),
            ("RuntimeError: operator torchvision::nms does not exist", "torch_misfit"),
            ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "shared_library"),
            ("ImportError: /lib/libc.so.6: version `GLIBC_2.34' not found (required by x)", "shared_library"),
            ("RuntimeError: DataLoader worker (pid 12) is killed by signal: Killed.", "loader_killed"),
            (
                "RuntimeError: [enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory",
                "out_of_memory",
            ),
            ("RuntimeError: CUDA error: device-side assert triggered", "cuda_error"),
            (
                "torch.distributed.DistNetworkError: The client socket has failed to connect to [a]:1",
                "master_unreachable",
            ),
            ("RuntimeError: Watchdog caught collective operation timeout: WorkNCCL(", "collective_timeout"),
            ("OSError: [Errno 122] Disk quota exceeded", "disk_full"),
        ],
    )
    def test_recognises(self, text, fault):
        known = recognise(text)
        assert known.fault == fault
        assert known.advice
        assert "{" not in known.advice

    def test_arguments_need_exit_code_2(self):
        text = "usage: t.py\nt.py: error: unrecognized arguments: --x"
        assert recognise(text, 2).fault == "wrong_arguments"
        assert recognise(text, 1) is None

    def test_every_fault_is_documented(self):
        with open("docs/faults.md", encoding="utf-8") as f:
            page = f.read()
        for fault in faults():
            assert f"`{fault}`" in page, fault
