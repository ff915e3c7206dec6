"""The rank wrapper: what mpirun starts in a rank's place, so that the rank's log, end and errors are kept as those of any other.

A program that stands alone (Python 3.6, standard library). It reads what to start from the node's mpi.json (ROOKERY_MPI_FILE), starts it with
its own log and variables, tells the agent through a pipe who it is and how it ended, and ends as it did.
"""

import ctypes
import errno
import json
import os
import re
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PASSED_ON = ("OMPI_", "PMIX_", "PMI_", "ORTE_", "PRTE_", "HYDRA_")
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NAME = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


def main():
    die_with_parent()
    with open(os.environ["ROOKERY_MPI_FILE"], encoding="utf-8") as f:
        node = json.load(f)
    if is_forsaken(node):
        return 70
    rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMIX_RANK") or ""
    if rank not in node["ranks"]:
        sys.stderr.write(
            "rookery: mpirun started rank {!r} here; this node has {}.\n".format(rank, sorted(node["ranks"]))
        )
        return 1
    what = node["ranks"][rank]
    for number in ENDING:  # they are the rank's business; we stay to tell how it ended
        signal.signal(number, signal.SIG_IGN)
    child, problem = start(what, variables_of(what, node))
    if problem:
        tell(node, {"rank": int(rank), "start_error": problem})
        return 127
    tell(node, {"rank": int(rank), "pid": child})
    while True:
        try:
            status = os.waitpid(child, 0)[1]
            break
        except InterruptedError:
            continue
    end = {"rank": int(rank), "pid": child, "time": time.time(), "exit_code": None, "signal": None}
    if os.WIFSIGNALED(status):
        end["signal"] = os.WTERMSIG(status)
    else:
        end["exit_code"] = os.WEXITSTATUS(status)
    tell(node, end)
    if os.path.exists(what["variables"].get("ROOKERY_STOP_FILE") or ""):
        return 0  # it was asked to end: mpirun need not stop the others, who may still be saving their work
    return end["exit_code"] if end["signal"] is None else 128 + end["signal"]


def variables_of(what, node):
    """The rank's own, and what mpirun has set for it."""
    found = dict(what["variables"])
    found.update((k, v) for k, v in os.environ.items() if k.startswith(PASSED_ON))
    if node.get("shared_memory"):  # nodes of one machine would take each other's segments for their own
        found.setdefault("OMPI_MCA_btl_vader_backing_directory", node["shared_memory"])
        found.setdefault("OMPI_MCA_btl_sm_backing_directory", node["shared_memory"])  # its name since Open MPI 5
    return found


def start(what, variables):
    """(pid, None), or (0, why it cannot be started)."""
    argv = what["argv"] or ["/bin/sh", "-c", what["shell"]]
    if what["argv"]:
        argv = [NAME.sub(lambda m: variables.get(m.group(1) or m.group(2), m.group(0)), a) for a in argv]
    read, write = os.pipe()
    own = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            become(what, argv, variables, own)
        except OSError as error:
            os.write(write, f"{error.filename or argv[0]}: {error.strerror}".encode("utf-8", "replace"))
        finally:
            os._exit(127)
    os.close(write)
    note(what["process"], child)
    problem = os.read(read, 4096).decode("utf-8", "replace")
    os.close(read)
    if problem:
        os.waitpid(child, 0)
        return 0, problem
    return child, None


def become(what, argv, variables, wrapper):
    die_with_parent()
    if os.getppid() != wrapper:
        os._exit(70)  # it died before it could be said that we die with it
    for number in (*ENDING, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    if what["cpus"]:
        try:
            os.sched_setaffinity(0, what["cpus"])
        except OSError:
            pass  # a core that this container may not use: unpinned is better than not at all
    os.chdir(what["work"])
    log = os.open(what["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.execvpe(argv[0], argv, variables)


def note(path, pid):
    """process.json, as for any rank: who finds it can tell a reused pid apart."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            ticks = int(f.read().rsplit(b")", 1)[1].split()[19])
        with open(path + ".new", "w") as f:
            json.dump({"pid": pid, "start_ticks": ticks}, f)
        os.replace(path + ".new", path)
    except (OSError, ValueError):
        pass  # it has ended already


def tell(node, words):
    """One line, at once: shorter than what a pipe takes in one piece."""
    try:
        pipe = os.open(node["ends"], os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return  # the agent is gone, and we with it
    try:
        os.write(pipe, json.dumps(words)[:4000].encode("ascii") + b"\n")
    finally:
        os.close(pipe)


def is_forsaken(node):
    """Whether the agent is gone: then mpirun may have died before it could be said that we die with it."""
    try:
        os.close(os.open(node["ends"], os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        return error.errno == errno.ENXIO  # nobody reads
    return False


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
