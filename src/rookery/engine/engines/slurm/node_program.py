"""A small program of text that clears up after an agent, on its node."""

from __future__ import annotations

__all__ = ["AGENT_MARK", "NODE_PROGRAM"]

AGENT_MARK = "ROOKERY_SLURM_AGENT"  # <job id>/<node>: in the variables of an agent and of all that it starts

# Kills what a dead agent has left, prints its last words and removes the file that holds them, and those of jobs that were
# canceled as a whole and could not.
NODE_PROGRAM = r"""
import glob, os, signal, sys, time

def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""

def variables(pid):
    return set(read("/proc/%s/environ" % pid).split(b"\0"))

def pids():
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]

def network(pid):
    try:
        return os.readlink("/proc/%s/ns/net" % pid)
    except OSError:
        return ""

job, node = os.environ["SLURM_JOB_ID"], os.environ["ROOKERY_NODE"]
agent = ("ROOKERY_SLURM_AGENT=%s/%s" % (job, node)).encode()
marks = {("ROOKERY_ATTEMPT_KEY=" + os.environ["RK_KEY"]).encode(), ("ROOKERY_NODE=" + node).encode()}

def leftovers():
    for pid in pids():
        found = variables(pid)
        # The same run may have a namesake in another network namespace of this machine (a test's, a container's).
        ours = agent in found or (marks <= found and network(pid) == network("self"))
        if ours and b"rookery.server" not in read("/proc/%d/cmdline" % pid) and alive(pid):
            yield pid

def alive(pid):
    fields = read("/proc/%d/stat" % pid).rsplit(b")", 1)[-1].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")

def end():
    for _ in range(10):  # what forks while we look is found in the next round
        found = list(leftovers())
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if not found:
            break
        time.sleep(0.05)
    folder = os.environ.get("TMPDIR") or "/tmp"
    for path in glob.glob(os.path.join(glob.escape(folder), "rookery-[0-9]*-[0-9]*.??????")):
        try:
            about = os.lstat(path)
            if about.st_uid == os.getuid() and not os.path.islink(path) and time.time() - about.st_mtime > 86400:
                os.unlink(path)
        except OSError:
            pass
    for path in glob.glob(os.path.join(glob.escape(folder), "rookery-%s-%s.*" % (job, node))):
        try:
            if os.lstat(path).st_uid == os.getuid() and not os.path.islink(path):
                sys.stdout.write(read(path)[-600:].decode("utf-8", "replace"))
                os.unlink(path)
        except OSError:
            pass

end()
"""
