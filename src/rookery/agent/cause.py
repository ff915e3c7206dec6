"""Why a rank failed: exit code or signal, recorded exception and last lines, turned into a Cause. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from rookery.agent.cause_first import is_collateral
from rookery.agent.cause_known import NO_SCRIPT, Known, recognise
from rookery.agent.process import RankEnd
from rookery.agent.words import signal_name, signal_words
from rookery.spec.cause import Cause, CauseKind

__all__ = [
    "Evidence",
    "explain_first",
    "explain_lost",
    "explain_rank",
    "explain_time_limit",
    "explain_watched",
]

LAST_LINES = 20
MAX_LINE = 500
MAX_TRACEBACK = 20000
_SIGNALS = frozenset(int(number) for number in signal.Signals)
_SIGNAL_FAULTS = {
    "SIGSEGV": "segmentation_fault",
    "SIGBUS": "bus_error",
    "SIGABRT": "aborted",
    "SIGILL": "illegal_instruction",
    "SIGFPE": "arithmetic_error",
    "SIGTERM": "terminated",
    "SIGINT": "interrupted",
    "SIGKILL": "killed",
}


@dataclass(frozen=True)
class Evidence:
    """What is known about a rank that failed."""

    end: RankEnd
    attempt: int = 1
    node: int = 0
    log_name: str = ""
    tail: str = ""  # the end of its log
    recorded: Optional[Mapping[str, Any]] = None  # <pid>.json of the error recorder
    stack: str = ""  # <pid>.stack of faulthandler
    oom_killed: bool = False  # the kernel says so
    memory_bytes: int = 0  # the most that its tree was seen to use
    memory_total_bytes: int = 0
    time: float = 0.0  # when it went wrong: the recorder's time, else when it had ended
    only_stopped: bool = False  # by its launcher, because another one had failed
    shared_log: bool = False  # other ranks wrote into it, too: exceptions in it may be theirs
    vanished: bool = False  # a launcher's child that was gone from one moment to the next; nobody knows the signal


def explain_first(evidence: Sequence[Evidence], ended_well: Sequence[int] = ()) -> Cause:
    """The cause of the first failure among several ranks' (at least one).

    Args:
        ended_well: ranks that had come to their end with exit code 0 before; when all others only lost their peers, the first of
            these is why.
    """
    causes = [explain_rank(e) for e in evidence]
    first = min(causes, key=lambda c: (c.collateral, c.time or 0.0))
    if not first.collateral or not ended_well:
        return first
    early = min(ended_well)
    return replace(
        first,
        rank=early,
        exit_code=0,
        signal=None,
        fault="different_code_paths",
        collateral=False,
        summary=f"Rank {early} ended (exit code 0) while rank {first.rank} still waited for it in a collective: the ranks do "
        f"not run the same code path. {first.summary}",
        advice=(
            "Make every rank call the same collectives equally often: look for an `if rank == …` around one, and for data "
            "that gives some ranks fewer batches (drop_last=True, or torch's Join).",
        ),
    )


def explain_rank(evidence: Evidence) -> Cause:
    """One block: what happened, the exception with its traceback, the last lines, what to try."""
    end = evidence.end
    summary, advice, fault = _what(evidence)
    traceback = _traceback(evidence)
    return Cause(
        kind=CauseKind.USER_ERROR,
        summary=summary,
        attempt=evidence.attempt,
        node=evidence.node,
        rank=end.rank,
        exit_code=end.exit_code,
        signal=signal_name(end.signal) if end.signal is not None else None,
        exception=_exception(evidence),
        traceback=traceback,
        last_lines=_last_lines(evidence.tail),
        log=evidence.log_name or None,
        advice=tuple(advice),
        fault=fault,
        time=evidence.time or None,
        collateral=_is_collateral(evidence),
    )


def explain_time_limit(limit_s: int, attempt: int, node: int, tail: str = "", log_name: str = "") -> Cause:
    return Cause(
        kind=CauseKind.TIME_LIMIT,
        summary=f"The run was stopped after its time limit of {limit_s} s (max_run_duration_seconds).",
        attempt=attempt,
        node=node,
        last_lines=_last_lines(tail),
        log=log_name or None,
        advice=("Raise max_run_duration_seconds, or save checkpoints to ./outputs and continue from them.",),
        fault="time_limit",
    )


def explain_watched(pid: int, attempt: int, recorded: Optional[Mapping[str, Any]] = None) -> Cause:
    """The user's own process is gone and never said how its run ended."""
    why = f": {recorded['type']}: {recorded['message']}" if recorded else ""
    return Cause(
        kind=CauseKind.USER_ERROR,
        summary=f"The process {pid} ended without completing the run (it exited or was killed){why}.",
        attempt=attempt,
        exception=f"{recorded['type']}: {recorded['message']}" if recorded else None,
        traceback=str(recorded.get("traceback") or "")[-MAX_TRACEBACK:] or None if recorded else None,
        advice=("Call run.complete(), or use `with experiment.start_logging() as run:`.",),
    )


def explain_lost(what: str, attempt: int, node: int) -> Cause:
    return Cause(
        kind=CauseKind.LOST_NODE,
        summary=what,
        attempt=attempt,
        node=node,
        advice=("Submit the run again; it did not fail by itself.",),
    )


def _what(e: Evidence) -> tuple[str, list[str], str]:
    """The sentence, the advice that goes with it, and what the fault is called."""
    end = e.end
    if end.start_error:
        return (
            f"The process could not be started: {end.start_error}.",
            ["Check the interpreter and the script: environment.python.interpreter_path, ScriptRunConfig(script=…)."],
            "permission" if "may not be executed" in end.start_error else "command_not_found",
        )
    if e.vanished:
        return (
            "The process was gone from one moment to the next, without an exception: killed, or ended by os._exit.",
            ["Somebody or something sent it SIGKILL; often it is the kernel for lack of memory: see `dmesg`."],
            "killed",
        )
    exception = _exception(e)
    known = recognise(exception, end.exit_code) if exception else recognise(e.tail[-8000:], end.exit_code)
    if end.signal is not None:
        return _signalled(e, known)
    sentence = _exit_sentence(e, exception, known)
    if known is None:
        return sentence, [], _exit_fault(e)
    return (f"{sentence} {known.likely}" if known.likely else sentence), [known.advice], known.fault


def _exit_fault(e: Evidence) -> str:
    code = e.end.exit_code or 0
    if code - 128 in _SIGNALS:
        return _SIGNAL_FAULTS.get(signal_name(code - 128), "")
    return {126: "permission", 127: "command_not_found"}.get(code, "")


def _exit_sentence(e: Evidence, exception: Optional[str], known: Optional[Known]) -> str:
    missing = re.search(NO_SCRIPT, e.tail)
    if missing and e.end.exit_code == 2:
        return f"The script '{missing.group(2)}' does not exist in the snapshot (exit code 2)."
    if known is not None and known.fault == "wrong_arguments":
        said = re.findall(r"(?m)^\S+: error: (.*)$", e.tail)
        return f"The script refused its arguments (exit code 2): {said[-1][:200] if said else 'see its log'}."
    if exception:
        first = exception.split("\n", 1)[0]
        return f"The script failed with {first if len(first) <= 300 else first[:297] + '...'}"
    words = {126: ": the command may not be executed", 127: ": the command was not found"}.get(e.end.exit_code or 0, "")
    if (e.end.exit_code or 0) - 128 in _SIGNALS:
        words = f": a process it ran ended with {signal_words((e.end.exit_code or 0) - 128)}"
    # `raise SystemExit("text")` prints the text, ends with 1 and leaves no other trace: the last line may be the reason.
    last = _last_lines(e.tail)[-1].strip() if e.end.exit_code == 1 and e.tail.strip() else ""
    quoted = f" Its last line: {last[:200]}" if last else ""
    return f"The script ended with exit code {e.end.exit_code}{words}.{quoted}"


def _signalled(e: Evidence, known: Optional[Known]) -> tuple[str, list[str], str]:
    number = e.end.signal or 0
    name = signal_name(number)
    fault = _SIGNAL_FAULTS.get(name, "")
    if name == "SIGKILL":
        nearly_all = e.memory_total_bytes and e.memory_bytes > 0.85 * e.memory_total_bytes
        if e.oom_killed or nearly_all:
            used = f" It used {e.memory_bytes / 2**30:.1f} GiB." if e.memory_bytes else ""
            return (
                f"The process was killed for lack of memory (SIGKILL by the kernel).{used}",
                ["Use a smaller batch or fewer data loader workers, or a target with more memory."],
                "host_out_of_memory",
            )
        return (
            "The process was killed (SIGKILL).",
            ["Somebody or something sent SIGKILL; often it is the kernel for lack of memory: see `dmesg`."],
            fault,
        )
    if name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT"):
        advice = ["The crash is in compiled code; the stack names the Python line that called it."]
        if name == "SIGBUS":
            advice.append("A full /dev/shm does this: fewer data loader workers, or sharing strategy 'file_system'.")
        if name == "SIGABRT" and known is not None:
            likely = f" {known.likely}" if known.likely else ""
            return f"The process crashed with {signal_words(number)}.{likely}", [known.advice, *advice], known.fault
        return f"The process crashed with {signal_words(number)}.", advice, fault
    return f"The process ended with {signal_words(number)}.", [], fault


def _is_collateral(e: Evidence) -> bool:
    """Whether this rank only lost its peers. A process that was killed or crashed by itself is never that."""
    if e.only_stopped:
        return True
    if e.end.start_error or e.vanished or e.shared_log:
        return False
    if e.end.signal is not None:
        return signal_name(e.end.signal) == "SIGABRT" and is_collateral(e.tail[-3000:])
    exception = _exception(e)
    if exception:
        return is_collateral(exception)
    return is_collateral("\n".join(_last_lines(e.tail)[-3:]))


def _exception(e: Evidence) -> Optional[str]:
    if e.recorded and not _was_caught(e):
        return f"{e.recorded.get('type')}: {e.recorded.get('message')}".rstrip(": ")
    if e.end.exit_code in (None, 0) or e.shared_log:
        return None
    return _last_exception_line(e.tail) if "Traceback (most recent call last)" in e.tail else None


def _was_caught(e: Evidence) -> bool:
    """sys.exit("text") is recorded when it is called; uncaught it ends with 1 and nothing else."""
    return e.recorded is not None and e.recorded.get("type") == "SystemExit" and e.end.exit_code != 1


def _last_exception_line(tail: str) -> Optional[str]:
    after = tail[tail.rindex("Traceback (most recent call last)") :].splitlines()[1:]
    for line in after:
        if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit|Warning|Iteration)\b", line):
            return line[:MAX_LINE]
    return None


def _traceback(e: Evidence) -> Optional[str]:
    if e.end.signal is not None and e.stack.strip():
        return e.stack[-MAX_TRACEBACK:]
    if e.recorded and e.recorded.get("traceback") and not _was_caught(e):
        return str(e.recorded["traceback"])[-MAX_TRACEBACK:]
    start = e.tail.rfind("Traceback (most recent call last)")
    if start >= 0 and e.end.exit_code not in (None, 0) and not e.shared_log:
        return e.tail[start:][-MAX_TRACEBACK:]
    return None


def _last_lines(tail: str) -> tuple[str, ...]:
    lines = [line.rstrip().rsplit("\r", 1)[-1] for line in tail.rstrip().split("\n")] if tail.strip() else []
    return tuple(line[:MAX_LINE] for line in lines[-LAST_LINES:])
