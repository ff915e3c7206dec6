"""The error recorder: how a process of the run came to its end, written to ROOKERY_ERRORS_DIR before it is
gone.

Stands alone (the payload's `first` folder holds a copy), imports next to nothing until something goes wrong,
and never breaks the process it watches. An uncaught exception becomes `<pid>.json` {type, message,
traceback, time,
argv, pid}; a crash of the interpreter (SIGSEGV and its kin) leaves its Python stacks in `<pid>.stack`.
"""

import os
import sys

__all__ = ["install", "record_exception"]

_folder = ""


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
            }
        )
    )


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


def _write(text):
    path = os.path.join(_folder, "{}.json".format(os.getpid()))
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8", errors="backslashreplace") as f:
        f.write(text)
    os.replace(partial, path)


def _full_name(kind):
    module = getattr(kind, "__module__", "builtins")
    return kind.__name__ if module in ("builtins", "__main__") else "{}.{}".format(module, kind.__name__)
