"""The program that an SshEngine runs on each of its machines while it is connected. It is sent as text: standard library
only, nothing of ours, Python 3.9.

Lines of JSON come in on standard input, answers and news go out on standard output behind MARK (a login shell may print
anything else). It ends with the connection. What it has started does not: every agent has a guardian, a small process
that waits for it and notes how it ended, so that nothing is lost while nobody is connected.

    <node home>/agents/<key>/   of one placement: lock (held by its guardian), note.json, end.json, agent.log
"""

import contextlib
import fcntl
import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

MARK = "@rookery "
NODE_HOME = "@ROOKERY_NODE_HOME@"  # spec.job.NODE_HOME
SILENCE_S = 60.0  # without a line for so long the other side is gone, whatever TCP says
KEPT_S = 14 * 86400.0  # how long the notes of agents that have ended stay
NOTE_WAIT_S = 20.0
END_WAIT_S = 30.0  # its guardian lives, so it will note how the agent ended; a busy disk may take its time
TAIL_BYTES = 2000
SWEEP_ROUNDS = 5
# argv: folder, what the note says (JSON), then the agent's command. Standard input is the agent's.
GUARDIAN = """
import json, os, signal, subprocess, sys, time
folder, note, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
def write(name, data):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as f:
        json.dump(data, f); f.flush(); os.fsync(f.fileno())
    os.rename(path + ".new", path)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
try:
    child = subprocess.Popen(command, start_new_session=True)
except OSError as error:
    write("end.json", {"error": "%s: %s" % (command[0], error.strerror or error)})
    sys.exit(1)
with open("/proc/%d/stat" % child.pid) as f:
    note.update(pid=child.pid, ticks=int(f.read().rsplit(")", 1)[1].split()[19]), time=time.time())
write("note.json", note)
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
code = child.wait()
end = {"exit_code": code if code >= 0 else None, "signal": None, "time": time.time()}
if code < 0:
    try:
        end["signal"] = signal.Signals(-code).name
    except ValueError:
        end["signal"] = "signal %d" % -code
write("end.json", end)
"""


class Hand:
    def __init__(self, settings):
        self.home = os.path.abspath(os.path.expanduser(settings["home"]))
        self.folder = os.path.join(self.home, "agents")
        self.watched = {}  # key: (pid, ticks, pidfd or -1)
        self.lock, self.start_lock = threading.Lock(), threading.Lock()
        self.wake_read, self.wake_write = os.pipe()
        self.heard = time.monotonic()

    def serve(self):
        """Take commands until the connection ends."""
        os.umask(0o077)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.clean()
        self.say({"event": "hello", "facts": self.facts()})
        threading.Thread(target=self.watch, daemon=True).start()
        for line in sys.stdin:
            self.heard = time.monotonic()
            command = json.loads(line)
            if command["do"] == "ping":
                self.answer(command, {})
            else:  # a slow one must not hold up the others
                threading.Thread(target=self.obey, args=(command,), daemon=True).start()
        os._exit(0)  # at once: a thread that is just saying something would make an orderly end fail

    def obey(self, command):
        try:
            self.answer(command, getattr(self, "do_" + command["do"])(**command.get("with", {})))
        except Exception as error:
            words = getattr(error, "strerror", None) or str(error) or type(error).__name__
            name = getattr(error, "filename", None)
            self.answer(command, {"error": f"{words}: {name}" if name else words})

    def answer(self, command, data):
        self.say(dict(data, id=command["id"]))

    def say(self, data):
        try:
            with self.lock:
                sys.stdout.write(MARK + json.dumps(data) + "\n")
                sys.stdout.flush()
        except OSError:
            os._exit(0)

    # -- commands

    def do_start(self, key, note, boot, python, variables):
        """Start an agent, unless this placement has been started already."""
        with self.start_lock:
            if self.state(key)["state"] == "absent":
                self.start(key, note, boot, python, variables)
        until = time.monotonic() + NOTE_WAIT_S
        while time.monotonic() < until:
            found = self.state(key)
            if found["state"] not in ("absent", "starting"):
                return found
            time.sleep(0.005)
        raise RuntimeError("the agent's guardian did not come up: " + self.tail(key))

    def start(self, key, note, boot, python, variables):
        folder = os.path.join(self.folder, key)
        os.makedirs(folder, exist_ok=True)
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = os.open(os.path.join(folder, "boot"), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            os.unlink(os.path.join(folder, "boot"))  # it holds tokens: nobody finds it by a name
            with open(text, "wb", closefd=False) as f:
                f.write(boot.encode())
            os.lseek(text, 0, os.SEEK_SET)
            note = dict(note, boot_id=boot_id())
            command = [sys.executable, "-I", "-S", "-c", GUARDIAN, folder, json.dumps(note), python, "-I", "-"]
            with open(os.path.join(folder, "agent.log"), "ab") as log:
                guardian = subprocess.Popen(
                    command,
                    stdin=text,
                    stdout=log,
                    stderr=log,
                    env=self.environment(variables),
                    cwd=self.home,
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            os.close(text)
        finally:
            os.close(lock)
        threading.Thread(target=guardian.wait, daemon=True).start()

    def do_sync(self, keys):
        """What became of placements; those that live are watched from now on."""
        until = time.monotonic() + NOTE_WAIT_S
        states = {key: self.state(key) for key in keys}
        while any(s["state"] == "starting" for s in states.values()) and time.monotonic() < until:
            time.sleep(0.02)
            states = {key: self.state(key) for key in keys}
        return {"states": states}

    def do_kill(self, key):
        note = read(os.path.join(self.folder, key, "note.json"))
        return {"killed": bool(note) and note["boot_id"] == boot_id() and kill(note["pid"], note["ticks"])}

    def do_sweep(self, run, attempt, node, root):
        """Kill what a dead agent has left: recorded ranks, and everything that carries its marks."""
        killed, root = [], root.replace(NODE_HOME, self.home)
        with contextlib.suppress(OSError):
            for name in os.listdir(root):
                noted = read(os.path.join(root, name, "process.json")) if name.startswith("rank-") else None
                if noted and noted.get("start_ticks") and kill(noted["pid"], noted["start_ticks"]):
                    killed.append(noted["pid"])
        marks = {b"ROOKERY_ATTEMPT_KEY=%s/%d" % (run.encode(), attempt), b"ROOKERY_NODE=%d" % node}
        for _round in range(SWEEP_ROUNDS):  # what forks while we look is found in the next round
            found = [pid for pid in marked(marks) if kill(pid, start_ticks(pid) or -1)]
            if not found:
                break
            killed += [pid for pid in found if pid not in killed]
        return {"killed": killed}

    def do_run(self, program, python, limit_s):
        """Run a small program to its end."""
        with subprocess.Popen(
            [python, "-I", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment({}),
            cwd=self.home,
            start_new_session=True,
        ) as process:
            try:
                output = process.communicate(program.encode(), limit_s)[0]
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                return {"error": f"the program did not end within {limit_s:g} s"}
        return {"exit_code": process.returncode, "output": output.decode(errors="replace")}

    def do_facts(self):
        return {"facts": self.facts()}

    # -- what is known

    def state(self, key):
        """absent | starting | alive | ended | gone (nobody saw how)."""
        folder = os.path.join(self.folder, key)
        end = read(os.path.join(folder, "end.json"))
        if end:
            return {"state": "ended", "end": end, "tail": self.tail(key)}
        note = read(os.path.join(folder, "note.json"))
        if note is None:
            return {"state": "starting" if is_locked(os.path.join(folder, "lock")) else "absent"}
        if note["boot_id"] != boot_id():
            return {"state": "gone", "why": "restarted"}
        if start_ticks(note["pid"]) != note["ticks"]:
            until = time.monotonic() + END_WAIT_S
            while is_locked(os.path.join(folder, "lock")) and time.monotonic() < until:
                time.sleep(0.005)
            end = read(os.path.join(folder, "end.json"))
            if end:
                return {"state": "ended", "end": end, "tail": self.tail(key)}
            return {"state": "gone", "why": "", "tail": self.tail(key)}
        with self.lock:
            if key not in self.watched:
                self.watched[key] = (note["pid"], note["ticks"], pidfd(note["pid"]))
                os.write(self.wake_write, b"!")
        return {"state": "alive", "pid": note["pid"], "ticks": note["ticks"]}

    def watch(self):
        """Tell of every end, and leave when the other side has gone silent."""
        while True:
            with self.lock:
                watched = dict(self.watched)
            poller = select.poll()
            poller.register(self.wake_read, select.POLLIN)
            for _pid, _ticks, fd in watched.values():
                if fd >= 0:
                    poller.register(fd, select.POLLIN)
            ready = [fd for fd, _ in poller.poll(200 if any(w[2] < 0 for w in watched.values()) else 5000)]
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
            for key, (pid, ticks, fd) in watched.items():
                if fd in ready or (fd < 0 and start_ticks(pid) != ticks):
                    with self.lock:
                        del self.watched[key]
                    if fd >= 0:
                        os.close(fd)
                    self.say(dict(self.state(key), event="end", key=key))
            if time.monotonic() - self.heard > SILENCE_S:
                os._exit(0)

    def facts(self):
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        connection = os.environ.get("SSH_CONNECTION", "").split()
        return {
            "hostname": socket.gethostname(),
            "python": ".".join(map(str, sys.version_info[:3])),
            "cpus": len(os.sched_getaffinity(0)),
            "memory_bytes": pages * size,
            "gpus": gpus(),
            "load": os.getloadavg()[0],
            "address": connection[2] if len(connection) > 2 else "",
            "home": self.home,
            "free_bytes": shutil.disk_usage(self.home).free,
            "boot_id": boot_id(),
        }

    def tail(self, key):
        try:
            with open(os.path.join(self.folder, key, "agent.log"), "rb") as f:
                f.seek(max(0, os.fstat(f.fileno()).st_size - TAIL_BYTES))
                return f.read().decode(errors="replace").strip()
        except OSError:
            return ""

    def clean(self):
        """Forget agents that ended long ago."""
        for key in os.listdir(self.folder):
            folder = os.path.join(self.folder, key)
            with contextlib.suppress(OSError):
                if time.time() - os.stat(folder).st_mtime > KEPT_S and self.state(key)["state"] not in (
                    "alive",
                    "starting",
                ):
                    shutil.rmtree(folder, ignore_errors=True)

    def environment(self, variables):
        # The connection's own variables say nothing about the agent, which outlives it.
        ours = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "ROOKERY_", "AZUREML_"))}
        ours.pop("PYTHONDONTWRITEBYTECODE", None)
        return dict(ours, **variables)


def read(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def is_locked(path):
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def start_ticks(pid):
    """What tells a reused process number apart. None: no such process, or it is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rsplit(b")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def pidfd(pid):
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def kill(pid, ticks):
    if pid <= 1 or pid == os.getpid():
        return False
    fd = pidfd(pid)
    try:
        if start_ticks(pid) != ticks:
            return False
        if fd >= 0:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        if fd >= 0:
            os.close(fd)


def marked(marks):
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    found = set(f.read().split(b"\0"))
            except OSError:
                continue
            if marks <= found and start_ticks(int(name)) is not None:
                yield int(name)


def boot_id():
    try:
        with open("/proc/sys/kernel/random/boot_id") as f:
            return f.read().strip()
    except OSError:
        return ""


@functools.lru_cache(None)  # asking wakes the driver up, and they do not come and go
def gpus():
    if not shutil.which("nvidia-smi"):
        return 0
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
        return sum(1 for line in listed.stdout.splitlines() if line.startswith(b"GPU "))
    except (OSError, subprocess.SubprocessError):
        return 0
