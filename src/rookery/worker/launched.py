"""Ranks that a launcher of the user's command starts (torchrun, torch.distributed.launch, accelerate launch): each writes its own log, and
the launcher notes how each of them ended.

Stands alone (the payload's `first` folder holds a copy), and does something only where the agent has set ROOKERY_LAUNCHED_DIR. A rank is the
process that the launcher started, not what is below it: loaders of data write where their rank does.
"""

import os
import re
import sys

__all__ = ["begin"]

ONLY = "only.txt"  # the log of a rank that is alone in its world
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh", "busybox")
LAUNCHERS = re.compile(rb"\btorchrun\b|\btorch[./]distributed[./](?:launch|run)\b|\baccelerate\b")


def begin(recorder):
    """In a rank: turn to its own log. Elsewhere: note the ends of ranks that this process waits for."""
    folder = os.environ.get("ROOKERY_LAUNCHED_DIR", "")
    above = os.environ.get("ROOKERY_RANK_MAIN", "")
    if not folder or above not in ("", str(os.getpid())):
        return
    if not is_rank():
        note_ends(recorder)
        return
    rank = os.environ.get("RANK", "")
    rank = rank if rank.isdigit() else "0"
    os.environ["ROOKERY_RANK_MAIN"] = str(os.getpid())
    os.environ["ROOKERY_RANK"] = rank
    recorder.note("main {}".format(rank))
    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    turn_to(os.path.join(folder, ONLY if alone else rank + ".txt"))


def is_rank():
    """Whether a launcher started this process as a rank: torchrun says so; of others the name in their command line does."""
    if os.environ.get("TORCHELASTIC_RUN_ID"):
        return True
    above = os.getppid()
    return names_launcher(above) and not is_shell(above) and not names_launcher(os.getpid())


def names_launcher(pid):
    try:
        with open("/proc/{}/cmdline".format(pid), "rb") as f:
            return LAUNCHERS.search(f.read(65536).replace(b"\0", b" ")) is not None
    except OSError:
        return False


def is_shell(pid):
    """One whose line holds the whole command starts other things beside the launcher."""
    try:
        return os.path.basename(os.readlink("/proc/{}/exe".format(pid))) in SHELLS
    except OSError:
        return False


def turn_to(path):
    """stdout and stderr into the rank's log, each only where it is still the log of the node: what somebody redirected
    (`--redirects`, `| tee`) stays as it is."""
    try:
        shared = os.stat(os.environ["ROOKERY_NODE_LOG"])
    except (KeyError, OSError):
        return
    wanted = [fd for fd in (1, 2) if is_file(fd, shared)]
    if not wanted:
        return
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for fd in wanted:
        os.dup2(log, fd)
    os.close(log)


def is_file(fd, which):
    try:
        found = os.fstat(fd)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (which.st_dev, which.st_ino)


def note_ends(recorder):
    """From now on what os.waitpid tells about a process that left a mark is written into our own: only its parent ever learns it."""
    real = os.waitpid

    def waitpid(pid, options):
        found = real(pid, options)
        # Nothing is caught here: a handler of a signal (torchrun's) may raise at any line, and must be heard.
        if found[0] > 0 and recorder.is_marked(found[0]):
            recorder.note("reaped {} {}".format(*found))
        return found

    os.waitpid = waitpid
    early = sys.modules.get("subprocess")  # some .pth file has imported it: it has kept the real one
    kept = getattr(early, "_del_safe", None)
    if kept is not None and hasattr(kept, "waitpid"):
        kept.waitpid = waitpid
