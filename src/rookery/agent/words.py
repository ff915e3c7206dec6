"""Signals in words."""

from __future__ import annotations

import signal

__all__ = ["signal_name", "signal_words"]

_WORDS = {
    "SIGHUP": "hung up",
    "SIGINT": "interrupted",
    "SIGQUIT": "quit",
    "SIGILL": "illegal instruction",
    "SIGABRT": "aborted",
    "SIGBUS": "bus error: memory that is not there, often a full /dev/shm",
    "SIGFPE": "arithmetic error",
    "SIGKILL": "killed",
    "SIGSEGV": "segmentation fault",
    "SIGPIPE": "wrote to a closed pipe",
    "SIGTERM": "asked to end",
    "SIGXCPU": "CPU time limit",
    "SIGXFSZ": "file size limit",
    "SIGSYS": "forbidden system call",
}


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_words(number: int) -> str:
    """'SIGSEGV (segmentation fault)'."""
    name = signal_name(number)
    words = _WORDS.get(name)
    return f"{name} ({words})" if words else name
