"""Being asked to stop, and going on later where one left off. Standard library only, Python 3.6 and newer.

How a script uses it: docs/resume.md.
"""

import atexit
import os
import signal
import sys
import threading

__all__ = ["RESUME_EXIT_CODE", "checkpoint_dir", "leave_for_resume", "should_stop"]

RESUME_EXIT_CODE = 85  # "I was asked to stop and have saved my work: start me again"
LOCAL_FOLDER = "checkpoints"  # outside of a run

_lock = threading.Lock()
_pids = {"installed": 0, "asked": 0}  # the process that has the handler, and the one that was asked; 0: none
_before = []  # type: ignore[var-annotated]  # the handler that was there


def should_stop():
    """Whether this rank has been asked to stop: its node is being preempted, or the run was canceled.

    The first call, made in the main thread, takes over SIGTERM, so that the signal no longer ends the process; a handler
    that was there is called too. Other threads, subprocesses and ranks that never saw a signal go by a file that the agent
    writes before it sends one. Ranks may still hear of it a step apart: those that work in step agree first, with an
    all_reduce of this value.
    """
    if _pids["installed"] != os.getpid():
        _install()
    if _pids["asked"] == os.getpid():
        return True
    flag = os.environ.get("ROOKERY_STOP_FILE")
    return flag is not None and os.path.exists(flag)


def checkpoint_dir():
    """A folder that is the same in every attempt of the run and for all its ranks; removed when the run has ended.

    Outside of a run it is `checkpoints` in the current folder.
    """
    folder = os.environ.get("ROOKERY_RESUME_DIR") or os.path.abspath(LOCAL_FOLDER)
    os.makedirs(folder, exist_ok=True)
    return folder


def leave_for_resume():
    """End this process with the exit code that asks for another attempt. Raises SystemExit."""
    sys.exit(RESUME_EXIT_CODE)


def _install():
    """Once per process, and only where Python allows it: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    with _lock:
        if _pids["installed"] == os.getpid():
            return
        if not _pids["installed"]:  # a forked child has the handler already
            before = signal.getsignal(signal.SIGTERM)
            if before is not None:  # None: one that is not Python's; it is left alone
                _before.append(before)
                signal.signal(signal.SIGTERM, _on_term)
                atexit.register(_ignore_while_ending)
        _pids["installed"] = os.getpid()


def _ignore_while_ending():
    """A rank that saw the file ends before it is sent the signal; Python, while it ends, has no handler any more."""
    if _pids["installed"] == os.getpid() and signal.getsignal(signal.SIGTERM) is _on_term and should_stop():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _on_term(number, frame):
    if _pids["installed"] != os.getpid():
        # A forked child that never asked should_stop(): for it SIGTERM means what it always did.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    _pids["asked"] = os.getpid()
    for handler in _before:
        if callable(handler):
            handler(number, frame)
