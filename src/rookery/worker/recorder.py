"""The error recorder: how a process of the run came to its end, written to ROOKERY_ERRORS_DIR before it is
gone.

Stands alone (the payload's `first` folder holds a copy), imports next to nothing until something goes wrong,
and never breaks the process it watches. An uncaught exception becomes `<pid>.json` {type, message,
traceback, time, argv, pid, rank, local_rank}; a crash of the interpreter (SIGSEGV and its kin) leaves its Python stacks
in `<pid>.stack`.

`<pid>.dump` is there from the start: the mark of a process that dumps its Python stacks into it when it gets STACK_SIGNAL.
Its first line says which rank it is; a later one says that it left by itself (`exit <code>`, `end`). A process that is
gone and never said so was killed. A launcher's says which of its ranks it has waited for (launched.py).
"""

import os
import sys

__all__ = ["install", "is_marked", "note", "record_exception", "stack_signal"]

_folder = ""
_dump_fd = None
RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "HOROVOD_RANK")
LOCAL_NAMES = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "HOROVOD_LOCAL_RANK")


def stack_signal():
    """The signal that makes a marked process dump its stacks: a real-time one, far from those that libraries take
    (SIGUSR1 and SIGUSR2 are Slurm's, Lightning's and everybody's)."""
    import _signal  # type: ignore[import-not-found,unused-ignore]  # compiled in; `signal` would import enum, which every start would pay for

    return int(_signal.SIGRTMAX) - 7


def install(folder=None):
    """Start recording into `folder` (default: ROOKERY_ERRORS_DIR). Returns whether it does."""
    global _folder
    folder = folder or os.environ.get("ROOKERY_ERRORS_DIR")
    if not folder or _folder:
        return bool(_folder)
    _folder = folder
    _chain_hook()
    _chain_exit()
    _catch_crashes()
    _take_stacks()
    _follow_forks()
    return True


def record_exception(kind, value, trace):
    """Write `<pid>.json`, atomically."""
    import json
    import time
    import traceback

    try:
        message = str(value)
    except Exception:
        message = "<the exception has no text>"
    _write(
        json.dumps(
            {
                "type": _full_name(kind),
                "message": message,
                "traceback": "".join(traceback.format_exception(kind, value, trace)),
                "time": time.time(),
                "argv": [str(a) for a in getattr(sys, "argv", [])],
                "pid": os.getpid(),
                "rank": _number(RANK_NAMES),
                "local_rank": _number(LOCAL_NAMES),
            }
        )
    )


def note(text, fd=None):
    """A line about this process in its dump; what it forked without our knowing (Python 3.6) writes into the same."""
    import time

    fd = _dump_fd if fd is None else fd
    if fd is None:
        return
    line = "# {:.6f} {} {}\n".format(time.time(), os.getpid(), text)
    try:
        os.write(fd, line.encode("ascii", "replace"))
    except OSError:
        pass


def is_marked(pid):
    """Whether a process of this rank (or of its launcher) has left its mark."""
    return os.path.exists(os.path.join(_folder, "{}.dump".format(pid)))


def _chain_hook():
    before = sys.excepthook

    def hook(kind, value, trace):
        try:
            record_exception(kind, value, trace)
        except Exception:
            pass
        before(kind, value, trace)
        if kind is KeyboardInterrupt:
            _end_by_sigint()

    sys.excepthook = hook


def _end_by_sigint():
    """Python ends itself with SIGINT after a KeyboardInterrupt, as shells expect, unless code was compiled since (what we
    imported did). Raising one in compiled text says it again."""
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


def _chain_exit():
    """sys.exit("text") ends with 1 and never reaches the hook: keep its text."""
    before = sys.exit

    def exit(*args):
        if len(args) == 1 and isinstance(args[0], str):
            try:
                record_exception(SystemExit, SystemExit(args[0]), None)
            except Exception:
                pass
        elif args and isinstance(args[0], int) and args[0]:
            try:
                note("exit {}".format(int(args[0])))
            except Exception:
                pass
        before(*args)

    exit.__doc__ = before.__doc__
    sys.exit = exit


def _catch_crashes():
    try:
        import faulthandler

        if faulthandler.is_enabled():
            return
        path = os.path.join(_folder, "{}.stack".format(os.getpid()))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        faulthandler.enable(file=fd, all_threads=True)
    except Exception:
        pass


def _take_stacks():
    """From now on STACK_SIGNAL appends the stacks of all threads to `<pid>.dump`. Not before the file is marked."""
    global _dump_fd
    try:
        import atexit
        import faulthandler

        _dump_fd = _open_dump()
        faulthandler.register(stack_signal(), file=_dump_fd, all_threads=True, chain=False)
        atexit.register(note, "end")
    except Exception:
        pass


def _open_dump(how="started"):
    path = os.path.join(_folder, "{}.dump".format(os.getpid()))
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    rank, local_rank = _number(RANK_NAMES), _number(LOCAL_NAMES)
    note("{} rank {} local_rank {} parent {}".format(how, rank, local_rank, os.getppid()), fd)
    return fd


def _follow_forks():
    """A forked child has its parent's handlers and files: give it its own."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def _after_fork():
    global _dump_fd
    try:
        import faulthandler

        before, _dump_fd = _dump_fd, None
        if before is None:
            return
        _dump_fd = _open_dump("forked")
        faulthandler.register(stack_signal(), file=_dump_fd, all_threads=True, chain=False)
        os.close(before)
    except Exception:
        pass


def _number(names):
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def _write(text):
    path = os.path.join(_folder, "{}.json".format(os.getpid()))
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8", errors="backslashreplace") as f:
        f.write(text)
    os.replace(partial, path)


def _full_name(kind):
    module = getattr(kind, "__module__", "builtins")
    return kind.__name__ if module in ("builtins", "__main__") else "{}.{}".format(module, kind.__name__)
