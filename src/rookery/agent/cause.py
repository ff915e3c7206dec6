"""Why a rank failed: exit code or signal, recorded exception and last lines, turned into a Cause. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from rookery.agent.process import RankEnd
from rookery.agent.words import signal_name, signal_words
from rookery.spec.cause import Cause, CauseKind

__all__ = ["Evidence", "explain_lost", "explain_rank", "explain_time_limit", "explain_watched"]

LAST_LINES = 20
MAX_LINE = 500
MAX_TRACEBACK = 20000
_SIGNALS = frozenset(int(number) for number in signal.Signals)
_NO_SCRIPT = r"can't open file (['\"]?)(.+?)\1: \[Errno 2\]"


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


def explain_rank(evidence: Evidence) -> Cause:
    """One block: what happened, the exception with its traceback, the last lines, what to try."""
    end = evidence.end
    summary, advice = _what(evidence)
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


def _what(e: Evidence) -> tuple[str, list[str]]:
    """The sentence, and the advice that goes with it."""
    end = e.end
    if end.start_error:
        return f"The process could not be started: {end.start_error}.", [
            "Check the interpreter and the script: environment.python.interpreter_path, ScriptRunConfig(script=…)."
        ]
    if end.signal is not None:
        return _signalled(e)
    text = _text(e)
    exception = _exception(e)
    for pattern, advise in _KNOWN:
        found = re.search(pattern, text)
        if found:
            return _exit_sentence(e, exception), [advise(found)]
    return _exit_sentence(e, exception), []


def _exit_sentence(e: Evidence, exception: Optional[str]) -> str:
    missing = re.search(_NO_SCRIPT, e.tail)
    if missing and e.end.exit_code == 2:
        return f"The script '{missing.group(2)}' does not exist in the snapshot (exit code 2)."
    if exception:
        first = exception.split("\n", 1)[0]
        return f"The script failed with {first if len(first) <= 300 else first[:297] + '...'}"
    words = {126: ": the command may not be executed", 127: ": the command was not found"}.get(e.end.exit_code or 0, "")
    if (e.end.exit_code or 0) - 128 in _SIGNALS:
        words = f": a process it ran ended with {signal_words((e.end.exit_code or 0) - 128)}"
    # `raise SystemExit("text")` prints the text, ends with 1 and leaves no other trace: the last line may be the reason.
    last = _last_lines(e.tail)[-1].strip() if e.end.exit_code == 1 and e.tail.strip() else ""
    said = f" Its last line: {last[:200]}" if last else ""
    return f"The script ended with exit code {e.end.exit_code}{words}.{said}"


def _signalled(e: Evidence) -> tuple[str, list[str]]:
    number = e.end.signal or 0
    name = signal_name(number)
    if name == "SIGKILL":
        nearly_all = e.memory_total_bytes and e.memory_bytes > 0.85 * e.memory_total_bytes
        if e.oom_killed or nearly_all:
            used = f" It used {e.memory_bytes / 2**30:.1f} GiB." if e.memory_bytes else ""
            return f"The process was killed for lack of memory (SIGKILL by the kernel).{used}", [
                "Use a smaller batch or fewer data loader workers, or a target with more memory."
            ]
        return "The process was killed (SIGKILL).", [
            "Somebody or something sent SIGKILL; often it is the kernel for lack of memory: see `dmesg`."
        ]
    if name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT"):
        advice = ["The crash is in compiled code; the stack names the Python line that called it."]
        if name == "SIGBUS":
            advice.append("A full /dev/shm does this: fewer data loader workers, or sharing strategy 'file_system'.")
        return f"The process crashed with {signal_words(number)}.", advice
    return f"The process ended with {signal_words(number)}.", []


def _exception(e: Evidence) -> Optional[str]:
    if e.recorded and not _was_caught(e):
        return f"{e.recorded.get('type')}: {e.recorded.get('message')}".rstrip(": ")
    if e.end.exit_code in (None, 0):
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
    if start >= 0 and e.end.exit_code not in (None, 0):
        return e.tail[start:][-MAX_TRACEBACK:]
    return None


def _last_lines(tail: str) -> tuple[str, ...]:
    lines = [line.rstrip().rsplit("\r", 1)[-1] for line in tail.rstrip().split("\n")] if tail.strip() else []
    return tuple(line[:MAX_LINE] for line in lines[-LAST_LINES:])


def _text(e: Evidence) -> str:
    exception = _exception(e)
    return f"{exception or ''}\n{e.tail[-8000:]}"


def _name_of(module: str) -> str:
    return {"cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "yaml": "pyyaml"}.get(module, module)


_KNOWN = (
    (
        r"No module named '?([A-Za-z_][\w]*)",
        lambda m: (
            f"The run's environment lacks '{m.group(1)}'. Add {_name_of(m.group(1))} to it (pip_packages) "
            f"and submit again."
        ),
    ),
    (
        _NO_SCRIPT,
        lambda m: "Check ScriptRunConfig(source_directory=…, script=…) and the ignore file (.amlignore, .gitignore).",
    ),
    (
        r"(?i)CUDA out of memory|cuda\w*OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED",
        lambda m: "The GPU's memory is full: use a smaller batch, mixed precision, or gradient accumulation.",
    ),
    (
        r"MemoryError|Cannot allocate memory",
        lambda m: "Memory ran out: use a smaller batch or fewer data loader workers.",
    ),
    (
        r"No space left on device|Errno 28",
        lambda m: "The disk is full. Free some space; /dev/shm counts too.",
    ),
    (
        r"FileNotFoundError: .*?'([^'\n]+)'",
        lambda m: (
            f"'{m.group(1)}' is not there. Paths are relative to the snapshot's root; was the file left "
            f"out by the ignore file?"
        ),
    ),
    (
        r"PermissionError: .*?'([^'\n]+)'",
        lambda m: f"'{m.group(1)}' may not be used by this user. Write below ./outputs or ../.",
    ),
    (
        r"(?i)address already in use",
        lambda m: "Another process has the port: a run that is still there, or a second one on this node.",
    ),
)
